# Ctrl-C ends with status 4 and writes nothing; kill -9 at any moment leaves the old file or none under the name, never a part.
set -m
mercer generate friedman1 -n 4000 --seed 1 -o big.csv -q
for signal in INT TERM; do
  mercer fit big.csv --solver eigen -o big.mercer &
  sleep 0.5; kill -$signal $!; wait $!; echo "exit $?"
  ls
done
mercer generate friedman1 -n 1500 --seed 1 -o middle.csv -q
mercer gram rbf middle.csv -o whole.npy -q
for delay in 0.02 0.05 0.1 0.15 0.2 0.25 0.3; do
  mercer gram rbf middle.csv -o K.npy -q & sleep $delay
  kill -9 $! 2> /dev/null; wait $! 2> /dev/null
  test ! -e K.npy || cmp -s K.npy whole.npy || echo "a part was left after $delay"
  rm -f K.npy
done 2> /dev/null
# A support vector machine with a checkpoint goes on after any of these to the bits of a run that was left alone.
mercer generate checkerboard -n 9000 --noise 0.05 --seed 3 -o board.csv -q
fit() { mercer fit board.csv -m svc -k 'rbf(gamma=20)' --C 10 --threads 1 -q --checkpoint $1 -o $2; }
fit alone alone.mercer
for delay in 0.1 0.2 0.3 0.4 0.5; do
  fit killed killed.mercer & sleep $delay
  kill -9 -- -$! 2> /dev/null; wait $! 2> /dev/null
done 2> /dev/null
fit killed killed.mercer; cmp alone.mercer killed.mercer
mercer fit board.csv -m svc -k 'rbf(gamma=20)' --C 11 -q --checkpoint killed; echo "exit $?"
echo done
