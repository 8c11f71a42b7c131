python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
mercer fit sine.csv; echo "exit $?"
ls
mercer fit sine.csv -m ridge -k 'rbf(sigma=1) + 0.1*linear' --lambda 0.01 --no-intercept -o other.mercer; echo "exit $?"
mercer fit trees.csv --lambda=0.1 -k linear -q; echo "exit $?"
mercer fit trees.csv --lambda 0.1; echo "exit $?"
cp sine.mercer first.mercer
mercer fit sine.csv --threads 1 -q && cmp sine.mercer first.mercer && echo "the same bytes again, on one thread"
mercer fit sine.csv -o sine.csv; echo "exit $?"
mercer fit sine.csv -k 'rbf(gamma=1e-3..10)'; echo "exit $?"
mercer fit sine.csv -o - > piped.mercer; echo "exit $?"
mercer fit sine.csv -q && cmp sine.mercer piped.mercer && echo "the same bytes through a pipe"
mercer fit sine.csv --target 1 -q -o turned.mercer; mercer show turned.mercer | grep -e columns -e target
gzip -k sine.csv && mercer fit sine.csv.gz -q && cmp sine.mercer first.mercer && echo "the same bytes from the gzipped file"
mercer generate sinc -n 60 -o s.csv -q
mercer fit s.csv --norm-bound 2 -o b.mercer | grep machine
mercer show b.mercer | grep -e model -e norm
mercer fit s.csv --dof 5 --intercept -o b.mercer | grep machine
mercer fit s.csv --norm-bound 2 --lambda 1 -o b.mercer; echo "exit $?"
mercer fit s.csv --norm-bound 0 -o b.mercer; echo "exit $?"
mercer fit s.csv --dof 100 -o b.mercer; echo "exit $?"
