t() { echo "\$ mercer prove $*"; mercer prove "$@"; echo "exit $?"; }
t rbf
t '0.5*rbf(sigma=1) + linear^2'
t 'tanh(a=1, c=0)'
t -- '-linear'
t '-1*linear'
t 'laplacian(gamma=2) - 0.1*laplacian(gamma=1)' -d 1
t 'rbf(gamma=1'
t 'rbf(gamma=oops)'
t 'gauss(1)'
mercer prove 'exp(linear)' --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["verdict"], r["canonical"], sorted(r["shape"]), len(r["derivation"]) > 1, r["witness"])'
mercer prove 'tanh(a=1, c=0)' --json > refuted.json; echo "exit $?"
python3 -c '
import json, math
w = json.load(open("refuted.json"))["witness"]
x, c = w["points"], w["weights"]
value = sum(a * b * math.tanh(sum(p * q for p, q in zip(u, v))) for a, u in zip(c, x) for b, v in zip(c, x))
print("negative:", value < 0, "as said:", math.isclose(value, w["value"], rel_tol=1e-9), "beyond rounding:", w["value"] + w["bound"] < 0)'
mercer prove rbf -q; echo "exit $?"
