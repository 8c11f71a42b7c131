mercer generate; echo "exit $?"
mercer generate sinc -n 5 --seed 1; echo "exit $?"
mercer generate moons -n 100 --seed 3 -o a.csv; echo "exit $?"
mercer generate moons -n 100 --seed 3 -o b.csv -q; echo "exit $?"
mercer generate moons -n 100 --seed 4 > c.csv; echo "exit $?"
cmp a.csv b.csv && echo "the same seed gives the same bytes"
cmp -s a.csv c.csv || echo "another seed gives others"
for name in $(mercer generate); do
  mercer generate $name -n 30 -o $name.csv -q && mercer show $name.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["n"], r["d"] > 0)'
done
mercer generate moons -n 10 --json -o d.csv; echo "exit $?"
