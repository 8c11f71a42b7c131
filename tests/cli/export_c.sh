python3 $TESTS/export_c.py
mercer generate friedman1 -n 30 --seed 1 -o numbers.csv -q
mercer fit numbers.csv -m knn -o near.mercer -q; mercer export near.mercer --to c -o near.c; echo "exit $?"
mercer fit numbers.csv --solver fourier --rank 20 -k 'rbf(gamma=1)' --lambda 0.1 -o waves.mercer -q; mercer export waves.mercer --to c; echo "exit $?"
mercer export near.mercer --to fortran; echo "exit $?"
mercer export near.mercer; echo "exit $?"
ls near.c 2>/dev/null
