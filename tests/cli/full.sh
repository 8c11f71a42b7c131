# A full disk is an error with status 2 and leaves nothing behind.
python3 $TESTS/sine.py > sine.csv
mercer fit sine.csv -q
mercer predict sine.mercer sine.csv -o /dev/full; echo "exit $?"
mercer predict sine.mercer sine.csv > /dev/full; echo "exit $?"
mercer fit sine.csv -o /dev/full; echo "exit $?"
mercer fit sine.csv > /dev/full; echo "exit $?"
mercer prove rbf > /dev/full; echo "exit $?"
mercer gram rbf sine.csv > /dev/full; echo "exit $?"
mercer generate moons -o /dev/full; echo "exit $?"
mercer generate moons > /dev/full; echo "exit $?"
mercer info --json > /dev/full; echo "exit $?"
test -c /dev/full && ls
