# No output takes the place of a file that is read, under whatever name.
python3 $TESTS/sine.py > sine.csv; cp sine.csv before.csv
mercer fit sine.csv --lambda 0.01 -o sine.mercer -q; cp sine.mercer before.mercer
ln -s sine.mercer link; ln sine.csv hard.csv
mercer predict sine.mercer sine.csv -o sine.csv; echo "exit $?"
mercer predict sine.mercer sine.csv -o sine.mercer; echo "exit $?"
mercer predict sine.mercer sine.csv -o link; echo "exit $?"
mercer predict sine.mercer sine.csv -o ./hard.csv; echo "exit $?"
mercer export sine.mercer --to c -o sine.mercer; echo "exit $?"
mercer export sine.mercer --to onnx -o link; echo "exit $?"
mercer gram rbf sine.csv -o sine.csv; echo "exit $?"
mercer cluster sine.csv -c 2 -o hard.csv; echo "exit $?"
mercer folds sine.csv -k rbf --folds 3 --lambda 1 -o sine.csv; echo "exit $?"
mercer plot sine.mercer sine.csv -o sine.csv; echo "exit $?"
mercer report sine.mercer sine.csv -o sine.mercer; echo "exit $?"
mercer fit sine.csv --weights hard.csv -o hard.csv; echo "exit $?"
mercer fit sine.csv -m svr --trace sine.csv -q; echo "exit $?"
mercer update sine.mercer sine.csv -o sine.csv; echo "exit $?"
cmp sine.csv before.csv && cmp sine.mercer before.mercer && ls
mercer predict sine.mercer sine.csv -o /dev/null -q; echo "exit $?"
mercer generate moons -n 5 --seed 1 -o moons.csv -q; mercer generate moons -n 5 --seed 1 -o moons.csv -q; echo "exit $?"
