# A row of weight 2 is a row written twice; a row of weight 0 is a row left out.
python3 $TESTS/sine.py 12 > a.csv
python3 - <<'P'
rows = open("a.csv").read().split()
head, rows = rows[0], rows[1:]
weights = [i % 3 for i in range(len(rows))]
open("w.csv", "w").write("\n".join(map(str, weights)) + "\n")
open("named.csv", "w").write("w,x,y\n" + "".join(f"{w},{r}\n" for w, r in zip(weights, rows)))
open("twice.csv", "w").write(head + "\n" + "".join((r + "\n") * w for w, r in zip(weights, rows)))
P
fit() { mercer fit "$@" -k 'rbf(sigma=1)' --lambda 0.1 --scale none -q; }
fit a.csv --weights w.csv -o 1.mercer && fit named.csv --weights w -o 2.mercer && fit twice.csv -o 3.mercer; echo "exit $?"
for m in 1 2 3; do mercer predict $m.mercer a.csv > $m.csv; done
python3 - <<'P'
p = [[float(v) for v in open(f"{m}.csv").read().split()[1:]] for m in (1, 2, 3)]
print(all(abs(a - b) < 1e-9 and abs(a - c) < 1e-9 for a, b, c in zip(*p)), len(p[0]))
P
fit a.csv --weights nothing; echo "exit $?"
head -n 5 w.csv > short.csv; fit a.csv --weights short.csv; echo "exit $?"
sed 's/2/-2/' w.csv > negative.csv; fit a.csv --weights negative.csv; echo "exit $?"
fit a.csv --weights a.csv; echo "exit $?"
