printf 'a,b\n1,0\n0,1\n1,1\n' > three.csv
mercer gram linear three.csv --no-target; echo "exit $?"
mercer gram linear three.csv; echo "exit $?"
mercer gram linear three.csv --no-target --json; echo "exit $?"
mercer gram 'rbf(gamma=0.5)' three.csv --no-target -o K.npy; echo "exit $?"
python3 -c '
import math, struct
b = open("K.npy", "rb").read()
start = 10 + struct.unpack("<H", b[8:10])[0]
K, X = struct.unpack("<9d", b[start:]), [(1, 0), (0, 1), (1, 1)]
wanted = [math.exp(-0.5 * ((x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2)) for x in X for z in X]
print(b[:6], b[10:start].decode().strip(), all(math.isclose(k, w, rel_tol=1e-14) for k, w in zip(K, wanted)))'
mercer gram linear three.csv --no-target -o K.csv -q; cat K.csv
mercer gram linear three.csv --no-target --check | sed 's/from [^ ]* to/from about 0 to/'; echo "exit ${PIPESTATUS[0]}"
mercer gram 'tanh(a=1, c=0)' three.csv --no-target --check; echo "exit $?"
mercer gram 'tanh(a=1, c=0)' three.csv --no-target --check --json > c.json; echo "exit $?"
python3 -c 'import json; c = json.load(open("c.json"))["check"]; print(sorted(c), c["positive"])'
head -n 2 three.csv > one.csv; mercer gram linear three.csv one.csv --no-target; echo "exit $?"
printf 'a,c\n1,0\n' > other.csv; mercer gram linear three.csv other.csv --no-target; echo "exit $?"
printf 'a\n1\n' > narrow.csv; mercer gram linear three.csv narrow.csv --no-target; echo "exit $?"
mercer generate friedman1 -n 60 -o many.csv -q; mercer gram rbf many.csv | sed 's/gamma=[^)]*/gamma=G/; s/sigma .*/sigma S/'; echo "exit $?"
mercer gram rbf many.csv --memory 20K; echo "exit $?"
mercer gram 'rbf(gamma=)' three.csv; echo "exit $?"
printf 'a,b\n1,2\n3,-1\n' > two.csv
mercer gram 'poly(degree=2)' two.csv --no-target --features; echo "exit $?"
mercer gram 'poly(degree=2)' two.csv --no-target --features -o Z.npy | grep matrix
mercer gram rbf two.csv --no-target --features; echo "exit $?"
mercer gram linear two.csv two.csv --no-target --features; echo "exit $?"
for K in '2,-1\n-1,2' '1,2\n2,1' '1,1\n1,1' '1,0.5\n0.25,1'; do
  printf "$K\n" > K.csv; mercer gram precomputed K.csv --no-target --prove | sed -n '${s/[0-9.]*e-[0-9]*/TINY/;p}'; echo "exit ${PIPESTATUS[0]}"
done
mercer gram precomputed K.csv --no-target --prove --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)["proof"].items()))'
printf '1,2\n2,1\n' > K.csv; mercer gram precomputed K.csv --no-target --prove --json > p.json; echo "exit $?"
python3 -c '
import json; p = json.load(open("p.json"))["proof"]; a, b = p["weights"]
print(a * a + b * b + 4 * a * b < 0, -1 <= p["bound"] < -1 + 1e-12)'
mercer gram linear three.csv three.csv --no-target --prove; echo "exit $?"
mercer gram linear three.csv --no-target --prove --features; echo "exit $?"
for K in '2,1\n1,2' '1,2\n2,1' '1,0.5\n0.25,1' '0,0\n0,0' '1,-3\n-3,-2'; do
  printf "$K\n" > K.csv
  for keep in '' --keep-diagonal; do
    mercer gram precomputed K.csv --no-target --repair R.csv $keep | grep -v '^proof'; echo "exit ${PIPESTATUS[0]}"
    mercer gram precomputed R.csv --no-target --prove > p.txt; echo "proved: exit $?"
  done
done
for K in '4,2\n2,1' '2,-1\n-1,2' '1,2\n2,1' '1,0.5\n0.25,1'; do
  printf "$K\n" > K.csv
  mercer gram precomputed K.csv --no-target --factor P.csv | sed 's/[0-9.]*e-[0-9]*/TINY/g'; echo "exit ${PIPESTATUS[0]}"; cat P.csv; rm -f P.csv
done
mercer gram linear three.csv --no-target --factor P.npy --tolerance 0.5 --json | python3 -c 'import json, sys; f = json.load(sys.stdin)["factor"]; print(sorted(f), f["rank"], f["tolerance"])'
mercer gram 'tanh(a=1, c=0)' three.csv --no-target --repair R.npy --json | python3 -c 'import json, sys; f = json.load(sys.stdin)["repair"]; print(sorted(f), f["negative"], round(f["distance"], 6))'
mercer gram linear three.csv three.csv --no-target --repair R.npy; echo "exit $?"
mercer gram linear three.csv --no-target --keep-diagonal; echo "exit $?"
mercer gram linear three.csv --no-target --tolerance 0.1; echo "exit $?"
mercer gram linear three.csv --no-target --factor P.npy --tolerance 2; echo "exit $?"
mercer gram linear three.csv --no-target --repair nowhere/R.npy; echo "exit $?"
mercer gram linear three.csv --no-target --factor P.csv --repair P.csv; echo "exit $?"
mercer gram precomputed K.csv --no-target --factor K.csv; echo "exit $?"
mercer gram precomputed K.csv --no-target --repair K.csv; echo "exit $?"
