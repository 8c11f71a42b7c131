mercer generate friedman1 -n 200 -o f.csv -q
mercer path f.csv --intercept --scale standard --from 1e-3 --to 100 --count 6; echo "exit $?"
mercer path f.csv -k linear --from 5 --count 1 --to 5; echo "exit $?"
mercer path f.csv -q --count 2; echo "exit $?"
mercer path f.csv --json --count 7 --from 1e-6 | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r), len(r["rows"]), sorted(r["rows"][0]))
print(r["best_lambda"] == min(r["rows"], key=lambda row: row["loo_rmse"])["lambda"], r["rows"][0]["lambda"] == 1e-6, r["rows"][6]["lambda"] == 1000)'
mercer fit f.csv --lambda 0.5 --loo -o m.mercer --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["loo_rmse"], r["norm"])'
mercer path f.csv --from 0.5 --to 0.5 --count 1 --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rows"][0]; print(r["loo_rmse"], r["norm"])'
mercer path f.csv --from 2 --to 1; echo "exit $?"
mercer path f.csv --from -1; echo "exit $?"
mercer path f.csv --from nan; echo "exit $?"
mercer path f.csv --count 0; echo "exit $?"
mercer path f.csv --lambda 3; echo "exit $?"
mercer path f.csv -m gp; echo "exit $?"
mercer path f.csv --memory 1M; echo "exit $?"
python3 $TESTS/iris.py > trees.csv; python3 $TESTS/iris.py 90 > more.csv
mercer path trees.csv -m svc --from 0.1 --to 10 --count 2 --test more.csv --tolerance 1e-9; echo "exit $?"
mercer path f.csv -m svr --from 1 --to 10 --count 2 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), r["best_C"], sorted(r["rows"][0]))'
mercer path trees.csv -m svc --C 3,1; echo "exit $?"; mercer path trees.csv -m svc --C 1,x; echo "exit $?"; mercer path trees.csv -m svc --C 1,3 --to 5; echo "exit $?"
mercer path trees.csv -m svc --folds 3; echo "exit $?"
mercer path f.csv --test f.csv; echo "exit $?"
mercer path trees.csv -m logistic --lambdas 1,0.1 --test more.csv --folds 3 --tolerance 1e-9; echo "exit $?"
mercer path f.csv -m quantile --tau 0.3 --lambdas 1 --test f.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), r["best_lambda"], sorted(r["rows"][0]))'
mercer path f.csv -m huber --C 1; echo "exit $?"; mercer path trees.csv -m svc --lambdas 1; echo "exit $?"; mercer path f.csv -m huber --lambdas 1,-1; echo "exit $?"
