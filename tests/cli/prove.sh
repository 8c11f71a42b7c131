t() { echo "\$ mercer prove $*"; mercer prove "$@"; echo "exit $?"; }
t rbf
t '0.5*rbf(sigma=1) + linear^2'
t 'tanh(a=1, c=0)'
t -- '-linear'
t '-1*linear'
t 'matern(nu=0.7, length_scale=1) - 0.1*matern(nu=0.9, length_scale=1)' -d 1
t 'rbf(gamma=1) - 0.1*rbf(gamma=0.5)'
t 'rbf(gamma=1) - 0.001' -d 2
mercer prove 'laplacian(gamma=2) - 0.4*laplacian(gamma=1)' --json | python3 -c '
import json, sys
w = json.load(sys.stdin)["frequency"]
print(w["kernel"], w["columns"], w["at"], abs(w["value"] - (1 - 0.4*4)) <= w["bound"])'
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
t 'weigh(log(x[1]), 1)'
t 'weigh(log(x[1])/x[2], chi2)[3, 4]'
t -- '-1e-400'
t 'form([[-1.23456789]])'
mercer prove 'matern - 0.5' --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["canonical"], "->", r["witness"]["kernel"], [r["domain"]])'
mercer prove 'weigh(log(x[1]), 1)' --json | grep domain
# What is printed adds up to what is claimed.
mercer prove '(1 + linear)^1.5' | python3 -c '
import re, sys
text = sys.stdin.read()
w = [float(v) for v in re.findall(r"with weight (\S+)", text)]
rows = [[float(v) for v in line.split()] for line in text.split("are\n\n")[1].split("\n\n")[0].splitlines()]
value, bound = (float(v.rstrip(".")) for v in re.search(r"is (\S+), give or take (\S+) ", text).groups())
total = sum(a * b * k for a, row in zip(w, rows) for b, k in zip(w, row))
print("adds up:", abs(total - value) <= bound, "negative:", value + bound < 0, "said with care:", bound < 0.01 * abs(value))'
mercer prove rbf -q; echo "exit $?"
# Terms that cancel: the digits that are printed are enough to check the value with.
mercer prove '1e20*(0.1*3*linear - 0.3*linear - 4e-17*linear)' | tee cancel.txt
python3 -c '
import re
from decimal import Decimal, getcontext
getcontext().prec = 60
text = open("cancel.txt").read()
full = {a: Decimal(b) for a, b in re.findall(r"    (\S+) = (\S+)", text)}
value, bound = (Decimal(v.rstrip(".")) for v in re.search(r"= (\S+), give or take (\S+) ", text).groups())
print("checked:", abs(10**20 * (3 * full["0.1"] - full["0.3"] - full["4e-17"]) - value) <= bound)'

# the proof as data
mercer prove 'rbf(gamma=1)*linear[2]' -q -o -
mercer prove 'laplacian(gamma=0.1..2) - 1.5' -q -o object.json; cat object.json
