python3 $TESTS/iris.py > trees.csv
python3 $TESTS/sine.py > sine.csv
mercer fit trees.csv -m pca -k 'rbf(gamma=0.5)' --scale none -o trees.mercer; echo "exit $?"
mercer show trees.mercer
head -3 trees.csv > new.csv
mercer predict trees.mercer new.csv | head -1
mercer predict trees.mercer new.csv | wc -l
cut -d, -f1,2 new.csv | mercer predict trees.mercer - | head -1
mercer score trees.mercer trees.csv; echo "exit $?"
mercer predict trees.mercer new.csv --decision; echo "exit $?"
mercer fit trees.csv -m pca -k linear --components 3 -o no.mercer; echo "exit $?"
mercer fit trees.csv -m pca --components 60 -o no.mercer; echo "exit $?"
mercer fit trees.csv -m pca --components 0 -o no.mercer; echo "exit $?"
mercer fit trees.csv -m pca -k linear --no-center --scale none -o raw.mercer -q; mercer show raw.mercer --json | grep -o -e '"variance": [0-9]*' -e '"kind": "[a-z]*"'
mercer fit trees.csv -m pca --components 20 --solver krylov -o no.mercer; echo "exit $?"
mercer plan trees.csv -m pca; echo "exit $?"
mercer export trees.mercer --to libsvm; echo "exit $?"
mercer fit sine.csv -m pca --no-target --json -o all.mercer | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["d"], r["outputs"], r["solver"], r["certificate"]["kind"], r["certificate"]["residual_relative"] < 1e-12, len(r["components"]), sorted(r["components"][0]))'
