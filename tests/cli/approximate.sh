mercer generate friedman1 -n 400 --noise 0.1 --seed 3 -o t.csv -q
mercer fit t.csv --solver nystrom --landmarks 80 --lambda 0.1 -o n.mercer; echo "exit $?"
mercer show n.mercer | grep -e approximate -e kept -e certificate
mercer fit t.csv --solver fourier --rank 100 --lambda 0.1 --intercept -o f.mercer; echo "exit $?"
mercer show f.mercer --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
c = r["certificate"]
print(r["approximate"], r["centres"], c["kind"], c["sampled_rows"], c["confidence"], 0 < c["residual_estimate"] <= c["residual"])'
mercer score f.mercer t.csv | head -n 1
# Landmarks listed in a file, on one thread and on two.
printf 'row\n1\n50\n200\n399\n50\n' > rows.csv
mercer fit t.csv --solver nystrom --landmarks rows.csv --threads 1 -o a.mercer | grep approximate
mercer fit t.csv --solver nystrom --landmarks 1,50,200,399,50 --threads 2 -q -o b.mercer && cmp a.mercer b.mercer && echo "the same bytes"
mercer fit t.csv --solver nystrom --landmarks 401; echo "exit $?"
mercer fit t.csv --solver nystrom --landmarks nothing.csv; echo "exit $?"
mercer fit t.csv --solver nystrom --landmarks t.csv; echo "exit $?"
mercer fit t.csv --solver fourier -k 'linear + rbf'; echo "exit $?"
mercer fit t.csv --solver nystrom --lambda 0; echo "exit $?"
mercer fit t.csv --json | grep '"approximate"'
