python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
mercer fit sine.csv --lambda 0.001 -q; mercer fit trees.csv --lambda 0.1 -q
mercer show sine.csv; echo "exit $?"
mercer show trees.csv; echo "exit $?"
mercer show sine.csv --no-target | head -n 1
mercer show sine.mercer; echo "exit $?"
mercer show trees.mercer; echo "exit $?"
mercer show sine.csv --json; echo "exit $?"
mercer show trees.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["classes"], r["target"])'
mercer show trees.mercer --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["type"], r["machine"], r["columns"], r["target"], r["classes"], sorted(r["certificate"]))'
printf 'a,b,y\n1,,3\n2,5,NA\n3,6,7\n4,?,1\n' > holes.csv
mercer show holes.csv; echo "exit $?"
mercer show holes.csv --missing drop; echo "exit $?"
printf '1 1:0.5 3:2\n-1 2:1\n1 3:1\n' > sparse.txt; mercer show sparse.txt; echo "exit $?"
mercer show .; echo "exit $?"
python3 $TESTS/sine.py > wave.csv
mercer fit wave.csv -k 'rbf(sigma=1)' --lambda 0.1 -q -o one.mercer; mercer fit wave.csv -k 'rbf(sigma=1)' --lambda 0.2 -q -o two.mercer
mercer fit wave.csv -m knn -q -o near.mercer; mercer fit wave.csv -k linear -q -o line.mercer
mercer show one.mercer two.mercer; echo "exit $?"
mercer show one.mercer two.mercer --json | grep -o '"[a-z_]*":'; echo "exit $?"
mercer show one.mercer line.mercer; echo "exit $?"
mercer show near.mercer near.mercer; echo "exit $?"
mercer show one.mercer wave.csv; echo "exit $?"
# A model that is weights of features: no row is kept, and it is still a function like any other.
mercer fit wave.csv -k 'poly(degree=2, c=1, gamma=1)' -q -o curve.mercer; mercer show curve.mercer; echo "exit $?"
mercer fit wave.csv -k 'poly(degree=2, c=1, gamma=1)' --solver cholesky -q -o rows.mercer
mercer show curve.mercer rows.mercer | tail -n 1 | sed 's/|f - g|.*/|f - g| small/'; echo "exit $?"
mercer export curve.mercer --to libsvm -o curve.model; echo "exit $?"
mercer fit wave.csv -k linear --scale none -q -o line.mercer; mercer export line.mercer --to libsvm -o line.model -q; tail -n 3 line.model | cut -c 1-12
mercer predict line.mercer wave.csv -o a.csv -q; mercer predict line.model wave.csv -o b.csv -q; cmp a.csv b.csv && echo same
mercer update curve.mercer wave.csv -o more.mercer | grep -E '^(update|weights)'; echo "exit $?"
