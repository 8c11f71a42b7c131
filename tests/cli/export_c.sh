python3 $TESTS/export_c.py
mercer generate friedman1 -n 30 --seed 1 -o numbers.csv -q
mercer fit numbers.csv -k 'linear[1:2]^2' --solver primal --lambda 0.1 -o map.mercer -q; mercer export map.mercer --to c -o near.c; echo "exit $?"
mercer export map.mercer --to fortran; echo "exit $?"
mercer export map.mercer; echo "exit $?"
ls near.c 2>/dev/null
