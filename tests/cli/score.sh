python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
python3 $TESTS/iris.py 90 > more.csv
mercer fit sine.csv --lambda 0.001 -q; mercer fit trees.csv --lambda 0.1 -q
mercer score sine.mercer sine.csv; echo "exit $?"
mercer score trees.mercer more.csv; echo "exit $?"
mercer score sine.mercer sine.csv --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
mercer score trees.mercer more.csv --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
# The numbers are what one computes from the predictions.
mercer predict sine.mercer sine.csv > p.csv; mercer score sine.mercer sine.csv --json > s.json
python3 -c '
import csv, json, math
p = [float(r["prediction"]) for r in csv.DictReader(open("p.csv"))]
y = [float(r["y"]) for r in csv.DictReader(open("sine.csv"))]
s = json.load(open("s.json"))
e = [a - b for a, b in zip(p, y)]
m = sum(y) / len(y)
near = lambda a, b: math.isclose(a, b, rel_tol=1e-9)
print(near(s["rmse"], math.sqrt(sum(v * v for v in e) / len(e))), near(s["mae"], sum(map(abs, e)) / len(e)),
      near(s["r2"], 1 - sum(v * v for v in e) / sum((v - m) ** 2 for v in y)))'
mercer generate moons -n 200 --seed 1 -o moons.csv -q && mercer fit moons.csv --lambda 0.1 -q
mercer score moons.mercer moons.csv --json > s.json; mercer predict moons.mercer moons.csv --decision > p.csv
python3 -c '
import csv, json, math
s = json.load(open("s.json"))
rows = list(csv.reader(open("p.csv")))
y = [r[-1] for r in csv.reader(open("moons.csv"))][1:]
last = sorted(set(y))[-1]
d = [float(r[-1]) for r in rows[1:]]
pos, neg = [v for v, c in zip(d, y) if c == last], [v for v, c in zip(d, y) if c != last]
auc = sum((a > b) + 0.5 * (a == b) for a in pos for b in neg) / (len(pos) * len(neg))
hit = sum(r[0] == c for r, c in zip(rows[1:], y)) / len(y)
print(math.isclose(s["auc"], auc, rel_tol=1e-9), math.isclose(s["accuracy"], hit, rel_tol=1e-12), s["log_loss"])'
cut -d, -f 1,2 trees.csv > bare.csv; mercer score trees.mercer bare.csv; echo "exit $?"
sed '2s/oak/fir/' trees.csv > unseen.csv; mercer score trees.mercer unseen.csv; echo "exit $?"
# Class by class: what one counts from the predictions.
mercer generate blobs -n 200 --noise 2 --seed 3 -o blobs.csv -q && mercer fit blobs.csv -m svc --C 1 -k 'rbf(gamma=1)' -q
mercer score blobs.mercer blobs.csv --json > s.json; mercer predict blobs.mercer blobs.csv > p.csv 2> note
python3 -c '
import csv, json
s = json.load(open("s.json"))
true, given = [[r[-1] for r in csv.reader(open(f))][1:] for f in ("blobs.csv", "p.csv")]
names = [c["class"] for c in s["classes"]]
table = [[sum(t == a and g == b for t, g in zip(true, given)) for b in names] for a in names]
print(table == s["confusion"], names == sorted(set(true)), "unknown" in s)
for k, c in enumerate(s["classes"]):
    right, rows, taken = table[k][k], sum(table[k]), sum(r[k] for r in table)
    print([c["rows"], c["predicted"]] == [rows, taken], abs(c["precision"] - right / taken) < 1e-12, abs(c["recall"] - right / rows) < 1e-12)'
mercer score sine.mercer sine.csv --confusion; echo "exit $?"
printf '+1 1:1\n-1 1:2\n' > two.svm; mercer fit two.svm -m svc -k linear -q; printf '+1 1:1\n7 1:2\n-1 1:3\n' > three.svm
mercer score two.mercer three.svm --confusion; echo "exit $?"
