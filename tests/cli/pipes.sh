# A file is read once, front to back, whatever kind it is.
python3 $TESTS/sine.py > sine.csv
mercer fit sine.csv --lambda 0.01 -o sine.mercer -q; mercer predict sine.mercer sine.csv > p.csv
mercer fit <(cat sine.csv) --lambda 0.01 -o a.mercer -q; cmp a.mercer sine.mercer && echo same
cat sine.csv | mercer fit /dev/stdin --lambda 0.01 -o a.mercer -q; cmp a.mercer sine.mercer && echo same
mercer fit /dev/stdin --lambda 0.01 -o a.mercer -q < sine.csv; cmp a.mercer sine.mercer && echo same
mkfifo pipe; cat sine.csv > pipe & mercer fit pipe --lambda 0.01 -o a.mercer -q; cmp a.mercer sine.mercer && echo same
gzip -c sine.csv > pipe & mercer predict sine.mercer pipe | cmp - p.csv && echo same
mercer predict <(cat sine.mercer) <(cat sine.csv) | cmp - p.csv && echo same
mercer gram linear sine.csv --no-target -o K.npy -q; cat K.npy > pipe & mercer show pipe | head -1 | sed 's/^[^:]*:/data/'
mercer show <(cat sine.mercer) | sed -n 2p
mercer score <(cat sine.mercer) <(gzip -c sine.csv) --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["n"])'
printf '1 1:0.5 2:1\n-1 1:1\n1 2:3\n-1 1:2 2:1\n' > four.svm; mercer fit four.svm -m svc -k linear -o four.mercer -q
cat four.svm > pipe & mercer fit pipe -m svc -k linear -o a.mercer -q; cmp a.mercer four.mercer && echo same
mercer fit sine.csv -m pca -k linear --components 1 -o pca.mercer -q; mercer plot pca.mercer <(cat sine.csv) -o pca.svg -q; echo "exit $?"
# Nobody at the other end: the time limit and signals are heard while waiting.
rm pipe; mkfifo pipe
for command in "fit pipe" "fit sine.csv --weights pipe" "show pipe" "predict pipe sine.csv" "predict sine.mercer pipe" "plot pipe -o p.svg" \
    "fit sine.csv -k linear -o pipe" "predict sine.mercer sine.csv -o pipe" "gram form(\"pipe\") sine.csv --no-target"; do
    mercer $command --time-limit 0.3 > out 2> err; echo "exit $? $(wc -c < out) $(cat err)"
done
sleep 1 | mercer fit - --time-limit 0.3; echo "exit $?"
timeout 0.5 mercer fit pipe; echo "exit $?"
timeout -s INT 0.5 mercer show pipe; echo "exit $?"
mercer fit sine.csv --solver pcg --checkpoint pipe; echo "exit $?"
mercer tune sine.csv --journal pipe; echo "exit $?"
# A reader that does not read, of more than a pipe holds.
(mercer predict sine.mercer <(for i in $(seq 300); do cat sine.csv; done | sed '2,${/[a-z]/d}') --time-limit 0.5 2> err; echo "exit $? $(cat err)" >> err) | sleep 2; grep -o "mercer: .*" err | tail -1
