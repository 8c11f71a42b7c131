python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
mercer fit sine.csv -m lms --epochs 50 -k 'rbf(sigma=1)'; echo "exit $?"
mercer fit sine.csv -m lms --mode sample --held-out 0.25 --seed 3 -k 'rbf(sigma=1)' --epochs 40 -o held.mercer; echo "exit $?"
mercer show held.mercer; echo "exit $?"
mercer fit sine.csv -m lms -k linear --json -o linear.mercer | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["solver"], r["stopped"], r["certificate"]["kind"], r["certificate"]["residual_relative"] < 1e-6, r["step"] > 0, "held_out" in r)'
# A step that is not safe is refused, with the bound.
mercer fit sine.csv -m lms -k 'rbf(sigma=1)' --step 10; echo "exit $?"
mercer fit sine.csv -m lms -k 'rbf(sigma=1)' --step 2 --mode sample; echo "exit $?"
mercer fit sine.csv -m lms -k 'rbf(sigma=1)' --solver features; echo "exit $?"
mercer plan sine.csv -m lms | tr -s ' ' | grep -e solver -e features
# Updates: in place, under a budget, from ridge, classes; what cannot be is refused.
mercer update sine.mercer sine.csv; echo "exit $?"
mercer update sine.mercer sine.csv --budget 20 --passes 3 -o small.mercer; echo "exit $?"
mercer show small.mercer; echo "exit $?"
mercer update small.mercer sine.csv --budget 20 --json -o again.mercer | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["machine"], r["solver"], r["centres"], r["new_rows"], r["certificate"]["kind"], r["model"])'
mercer fit sine.csv -o ridge.mercer -q && mercer update ridge.mercer sine.csv -o r2.mercer; echo "exit $?"
mercer fit trees.csv -m lms -q && mercer update trees.mercer trees.csv -q && mercer score trees.mercer trees.csv; echo "exit $?"
mercer update sine.mercer sine.csv --step 2; echo "exit $?"
mercer update sine.mercer sine.csv --budget -3; echo "exit $?"
# One that meets its own rows worse leaves the model as it was.
cp sine.mercer kept.mercer; mercer update sine.mercer sine.csv --step 1.99 --passes 7; echo "exit $?"; cmp sine.mercer kept.mercer && rm kept.mercer
mercer update sine.mercer sine.csv -o sine.csv; echo "exit $?"
mercer update sine.csv sine.mercer; echo "exit $?"
cut -d, -f 1 sine.csv > bare.csv; mercer update sine.mercer bare.csv; echo "exit $?"
mercer fit sine.csv -m gp --noise 0.1 --no-learn -q -o gp.mercer && mercer update gp.mercer sine.csv; echo "exit $?"
