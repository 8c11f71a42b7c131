python3 $TESTS/iris.py > trees.csv
python3 $TESTS/sine.py > sine.csv
mercer fit trees.csv -m logistic --lambda 0.1 --tolerance 1e-10 -o trees.mercer -q; echo "exit $?"
mercer show trees.mercer | grep -e machine -e solver
head -4 trees.csv > new.csv
mercer predict trees.mercer new.csv --proba | head -1
mercer predict trees.mercer new.csv --proba | python3 -c 'import csv, sys; [print(r["prediction"], max((k for k in r if k != "prediction"), key=lambda k: float(r[k])), round(sum(float(v) for k, v in r.items() if k != "prediction"), 12)) for r in csv.DictReader(sys.stdin)]'
mercer predict trees.mercer new.csv --proba --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), len(r["proba"]), len(r["proba"][0]))'
mercer score trees.mercer trees.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), 0 < r["log_loss"] < 0.7)'
mercer score trees.mercer trees.csv --bins 4; echo "exit $?"
mercer score trees.mercer trees.csv --json > s.json; mercer predict trees.mercer trees.csv --proba > p.csv
python3 -c '
import csv, json, math
s = json.load(open("s.json"))
rows = [(r, max((k for k in r if k != "prediction"), key=lambda k: float(r[k]))) for r in csv.DictReader(open("p.csv"))]
y = [list(r.values())[-1] for r in csv.DictReader(open("trees.csv"))]
bins = {}
for (r, best), c in zip(rows, y):
    bins.setdefault(min(14, int(15 * float(r[best]))), []).append((float(r[best]), best == c))
ece = sum(abs(sum(p for p, _ in b) - sum(hit for _, hit in b)) for b in bins.values()) / len(y)
print(math.isclose(s["ece"], ece, rel_tol=1e-6), len(s["calibration"]), sum(b["weight"] for b in s["calibration"]) == len(y))'
mercer fit trees.csv -m squared-hinge -q -o hinge.mercer; mercer predict hinge.mercer new.csv --proba; echo "exit $?"; mercer score hinge.mercer trees.csv --bins 4; echo "exit $?"
mercer fit sine.csv -m huber --delta 0.1 --lambda 0.1 --json -o huber.mercer | python3 -c 'import json, sys; r = json.load(sys.stdin); c = r["certificate"]; print(r["machine"], r["solver"], sorted(c), c["kind"], c["gap_relative"] < 1e-6)'
for tau in 0.1 0.9; do mercer fit sine.csv -m quantile --tau $tau --lambda 0.1 -q -o q.mercer; echo "exit $?"; done
mercer fit sine.csv -m absolute --lambda 0.1 -q -o a.mercer; echo "exit $?"
mercer fit sine.csv -m quantile --tau 1.5 -q; echo "exit $?"
mercer fit sine.csv -m huber --delta 0 -q; echo "exit $?"
mercer fit sine.csv -m huber --tau 0.5 -q; echo "exit $?"
mercer fit sine.csv -m absolute --no-intercept -q; echo "exit $?"
mercer fit trees.csv -m huber -q; echo "exit $?"
mercer fit sine.csv -m logistic --target-kind number -q; echo "exit $?"
mercer fit trees.csv -m logistic --solver cholesky -q; echo "exit $?"
mercer fit trees.csv -m logistic -k 'tanh(a=1, c=1)' -q; echo "exit $?"
mercer plan sine.csv -m quantile | head -2
