# Under a limit on the address space the command works or says why not, with status 5; it never waits for memory that does not come.
mercer generate moons -n 60 --seed 1 -o moons.csv -q
mercer fit moons.csv -m svc -k rbf -q -o moons.mercer
try() { (ulimit -v $1; shift; timeout -s KILL 60 "$@" > out.txt 2> err.txt; code=$?; test $code = 0 || { test $code = 5 && grep -q '^mercer: ' err.txt; } || { echo "$code: $*"; cat err.txt; }); }
for limit in 90000 150000 220000 250000 300000 350000 400000 450000 500000 600000 800000; do
  for verb in --version info 'generate sinc -n 5' 'show moons.csv' 'prove rbf' 'fit moons.csv -q -o f.mercer' 'gram rbf moons.csv --check' 'predict moons.mercer moons.csv'; do
    try $limit mercer $verb
  done
done
(ulimit -v 100000; mercer --version; echo "exit $?")
(ulimit -v 300000; mercer fit moons.csv -q -o f.mercer; echo "exit $?") 2>&1 | sed 's/leaves [0-9.]* MiB/leaves N MiB/'
(ulimit -v 800000; OMP_NUM_THREADS=8 mercer fit moons.csv -m svc -k rbf -q -o again.mercer; echo "exit $?"); cmp moons.mercer again.mercer
rm -f out.txt err.txt f.mercer
