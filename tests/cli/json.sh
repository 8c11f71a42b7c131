# With --json standard output is one object, whatever happens; errors leave it empty.
python3 $TESTS/sine.py > sine.csv
python3 $TESTS/iris.py > trees.csv
valid() { mercer "$@" 2>/dev/null | python3 -m json.tool > /dev/null && echo "valid: mercer $*"; }
valid fit sine.csv --json --lambda 0.01
valid fit trees.csv --json --lambda 0.01
valid fit sine.csv --json --lambda 0 -o zero.mercer
valid score sine.mercer sine.csv --json
valid score trees.mercer trees.csv --json
valid predict sine.mercer sine.csv --json
valid predict trees.mercer trees.csv --json --decision
valid prove rbf --json
valid prove 'tanh(a=1,c=1)' --json
valid gram rbf sine.csv --json
valid gram rbf sine.csv --json --check
valid plan sine.csv --json
valid show sine.csv --json
valid show sine.mercer --json
valid generate --json
valid info --json
mercer fit sine.csv --json --lambda 0.01 | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(" ".join(sorted(r)))
print(r["machine"], r["n"], r["d"], r["classes"], sorted(r["seconds"]), sorted(r["certificate"]), r["model"])
print(r["certificate"]["kind"], 0 <= r["certificate"]["residual_relative"] < 1e-10, r["certificate"]["prediction_error_bound"] < 1e-8)'
mercer fit trees.csv --json --lambda 0.01 | python3 -c 'import json, sys; print(json.load(sys.stdin)["classes"])'
mercer fit nothing.csv --json 2>/dev/null | wc -c
# Names that are not UTF-8 still give valid JSON.
printf 'x,gr\xf6\xdfe\n1,2\n2,3\n3,5\n' > latin.csv; mercer show latin.csv --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["target"]))'
