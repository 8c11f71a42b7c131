python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
mercer fit trees.csv -m knn --neighbors 3 -o trees.mercer; echo "exit $?"
mercer show trees.mercer
head -4 trees.csv > new.csv
mercer predict trees.mercer new.csv --decision
mercer score trees.mercer trees.csv
mercer fit sine.csv -m knn --weighting distance -o sine.mercer -q; mercer score sine.mercer sine.csv | grep -o "^[a-zA-Z0-9]*"
mercer fit sine.csv -m knn --json -o sine.mercer | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["machine"], r["neighbors"], r["certificate"])'
mercer fit trees.csv -m knn --neighbors 100000; echo "exit $?"
mercer fit trees.csv -m knn --neighbors 0; echo "exit $?"
mercer fit trees.csv -m knn --weighting inverse; echo "exit $?"
mercer fit trees.csv -m knn -k 'tanh(a=1, c=1)'; echo "exit $?"
mercer plan sine.csv -m knn; echo "exit $?"
mercer export trees.mercer --to libsvm; echo "exit $?"
mercer update trees.mercer trees.csv -o trees.mercer; echo "exit $?"
mercer predict trees.mercer new.csv --std; echo "exit $?"
# Every gamma of rbf has the same neighbours: their number alone is searched.
mercer tune trees.csv -m knn -o best.mercer | grep "^measured\|^chosen"
mercer tune trees.csv -m knn -k 'rbf(gamma={0.1, 1})' --neighbors '{3, 9}' -o best.mercer | grep "^measured"
mercer tune trees.csv --score acc; echo "exit $?"
mercer tune trees.csv -m knn --neigh 3; echo "exit $?"
