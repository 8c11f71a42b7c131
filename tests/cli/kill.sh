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
echo done
