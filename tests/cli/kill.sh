# Ctrl-C ends with status 4 and writes nothing; kill -9 at any moment leaves the old file or none under the name, never a part.
set -m
# Until a process has had so many hundredths of a second of the processor: then it is at work, however busy the machine.
at_work() { until test "$(awk '{ print $14 + $15 }' /proc/$1/stat)" -gt 30; do sleep 0.02; done; }
mercer generate friedman1 -n 4000 --seed 1 -o big.csv -q
for signal in INT TERM; do
  mercer fit big.csv --solver eigen -o big.mercer & at_work $!
  kill -$signal $!; wait $!; echo "exit $?"
  ls
done
mercer generate friedman1 -n 1500 --seed 1 -o middle.csv -q
mercer gram rbf middle.csv -o whole.npy -q
for delay in 0.02 0.05 0.1 0.15 0.2 0.25 0.3; do
  mercer gram rbf middle.csv -o K.npy -q & sleep $delay
  kill -9 $! 2> /dev/null; wait $! 2> /dev/null
  test ! -e K.npy || cmp -s K.npy whole.npy || echo "a part was left after $delay"
  rm -f K.npy
done 2> /dev/null
# A support vector machine with a checkpoint goes on after any of these to the bits of a run that was left alone.
mercer generate checkerboard -n 9000 --noise 0.05 --seed 3 -o board.csv -q
fit() { mercer fit board.csv -m svc -k 'rbf(gamma=20)' --C 10 --threads 1 -q --checkpoint $1 -o $2; }
fit alone alone.mercer
for delay in 0.1 0.2 0.3 0.4 0.5; do
  fit killed killed.mercer & sleep $delay
  kill -9 -- -$! 2> /dev/null; wait $! 2> /dev/null
done 2> /dev/null
fit killed killed.mercer; cmp alone.mercer killed.mercer
mercer fit board.csv -m svc -k 'rbf(gamma=20)' --C 11 -q --checkpoint killed; echo "exit $?"
# A search goes on from its journal to the scores of one that was left alone.
mercer generate moons -n 400 --noise 0.3 --seed 3 -o moons.csv -q
search() { mercer tune moons.csv -m squared-hinge --threads 1 --points 4 --json -o $1.mercer "${@:2}"; }
scores() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["best"], [c["parts"] for c in r["candidates"]])'; }
search one | scores > one.txt
search two --journal journal > /dev/null & until test "$(wc -l < journal 2> /dev/null)" -gt 4; do sleep 0.01; done 2> /dev/null
{ kill -9 -- -$!; wait $!; } 2> /dev/null
search two --journal journal > resumed.json
scores < resumed.json | cmp one.txt - && python3 -c 'import json; print(4 <= json.load(open("resumed.json"))["resumed"] < 80)'
echo done
