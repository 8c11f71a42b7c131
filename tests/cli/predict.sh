python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
mercer fit sine.csv --lambda 0.001 -q; mercer fit trees.csv --lambda 0.1 -q
printf 'x\n0.5\n1\n2\n' > new.csv
mercer predict sine.mercer new.csv | python3 -c '
import math, sys
rows = sys.stdin.read().split()
print(rows[0], all(abs(float(y) - math.sin(x)) < 0.15 for y, x in zip(rows[1:], (0.5, 1, 2))))'
mercer predict sine.mercer new.csv -o p.csv; echo "exit $?"
mercer predict sine.mercer new.csv --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print([repr(v) for v in r["prediction"]] == open("p.csv").read().split()[1:], r["n"])'
mercer predict sine.mercer new.csv --json -o p.csv; echo "exit $?"
printf 'width,length\n1.3,0.1\n0.5,1\n-1,2.1\n' > turned.csv   # columns are found by name
mercer predict trees.mercer turned.csv; echo "exit $?"
mercer predict trees.mercer turned.csv --decision | head -n 1; echo "exit $?"
mercer predict trees.mercer turned.csv --decision | awk -F, 'NR > 1 { best = 2; for (k = 3; k <= NF; k++) if ($k > $best) best = k; print $1, best, NF }'
mercer predict trees.mercer trees.csv | head -n 4
mercer predict sine.mercer new.csv --decision; echo "exit $?"
mercer predict sine.mercer new.csv --proba; echo "exit $?"
mercer predict sine.mercer new.csv --std; echo "exit $?"
mercer fit sine.csv -m gp -o gp.mercer -q; mercer predict gp.mercer new.csv --std | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(sorted(rows[0]), all(0 < float(r["std"]) < 0.1 for r in rows))'
mercer predict gp.mercer new.csv --std --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
mercer predict sine.csv new.csv; echo "exit $?"
mercer predict new.csv sine.mercer; echo "exit $?"
printf 'z\n1\n' > wrong.csv; mercer predict sine.mercer wrong.csv; echo "exit $?"
mercer predict sine.mercer new.csv | head -n 1 > /dev/null; echo "exit $?"
# Labels that need quotes are quoted.
printf 'a,b\n0,"x, ""y"""\n1,z\n0.1,"x, ""y"""\n0.9,z\n' > odd.csv
mercer fit odd.csv --lambda 0.1 -q && mercer predict odd.mercer odd.csv --decision | cut -d, -f 1,2 | head -n 3
# Several targets.
printf 'x,u,v\n0,0,1\n1,1,0\n2,2,-1\n3,3,-2\n' > two.csv
mercer fit two.csv --target u,v -k linear --lambda 1e-9 -q && mercer predict two.mercer two.csv | python3 -c '
import sys
rows = [line.split(",") for line in sys.stdin.read().split()]
print(rows[0], [[round(float(v), 3) + 0.0 for v in row] for row in rows[1:]])'
mercer generate sinc -n 12 -o sinc.csv -q
mercer fit sinc.csv -m gp -k 'exponential(gamma=0.3)' --no-learn --noise 0.01 -q -o gp.mercer
mercer predict gp.mercer sinc.csv --std --samples 2 --seed 3 | head -n 3
mercer predict gp.mercer sinc.csv --samples 2 --seed 3 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), len(r["samples"]), len(r["samples"][0]))'
mercer predict gp.mercer sinc.csv --samples 0; echo "exit $?"
mercer fit sinc.csv -q -o ridge.mercer; mercer predict ridge.mercer sinc.csv --samples 3; echo "exit $?"
awk -F, 'NR == 1 { print "v," $0 } NR > 1 { print NR / 100 "," $0 }' sinc.csv > noisy.csv
mercer fit noisy.csv -m gp --noise-column v --restarts 0 -o gp.mercer --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["lambda"], r["d"])'
mercer predict gp.mercer sinc.csv | head -n 2
mercer fit noisy.csv --noise-column v; echo "exit $?"
mercer fit noisy.csv -m gp --noise-column v --weights v; echo "exit $?"
printf 'v,x,y\n1,2,3\n0,4,5\n' > zero.csv; mercer fit zero.csv -m gp --noise-column v; echo "exit $?"
printf 'x,y\n1,2\n1,3\n2,5\n' > twins.csv; mercer fit twins.csv -m gp --noise 0; echo "exit $?"
# A model knows the means of its training rows, though none of their cells was missing.
printf 'a,b,y\n1,10,1\n2,20,2\n6,30,4\n' > whole.csv
mercer fit whole.csv -k linear --scale standard -o whole.mercer -q
printf 'a,b\n,20\n2,\n' > holes.csv
printf 'a,b\n3,20\n2,20\n' > means.csv
mercer predict whole.mercer holes.csv --missing mean > one.csv; mercer predict whole.mercer means.csv > two.csv; cmp one.csv two.csv && echo same
# A column of another name, a row alone.
printf 'weight,height,kind\n4,25,cat\n30,60,dog\n28,58,dog\n5,24,cat\n' > pets.csv
mercer fit pets.csv -m svc -q -o pets.mercer
printf 'weight,heigt\n4,25\n' > slip.csv
mercer predict pets.mercer slip.csv; echo "exit $?"
head -2 pets.csv > one.csv
mercer tune one.csv -m knn; echo "exit $?"
mercer plan pets.csv --rows 3; echo "exit $?"
# Columns that the model has not are passed over and named; names may look missing, or be numbers.
printf 'id,weight,height,note\n8,4,25,a\n9,30,60,b\n' > more.csv
mercer predict pets.mercer more.csv -q; mercer predict pets.mercer more.csv 2>&1 > pets.out | head -1
printf 'Na,2019,y\n1,2,3\n2,3,4\n3,5,5\n4,4,6\n' > elements.csv
mercer fit elements.csv; echo "exit $?"
mercer fit elements.csv --header yes -m ridge --lambda 0.1 -k rbf -q; mercer show elements.mercer | grep columns
mercer fit elements.csv --header yes --drop Na -m ridge --lambda 0.1 -k rbf | grep data
mercer fit elements.csv --drop Mg; mercer fit elements.csv --header maybe; echo "exit $?"
