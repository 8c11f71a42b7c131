mercer generate friedman1 -n 90 -o f.csv -q
mercer folds f.csv --folds 3 --lambda 0.1 --intercept --scale standard; echo "exit $?"
mercer folds f.csv --lambda 0.5 --json -o loo.csv | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["folds"], r["rmse"], r["by_fold"], r["output"])'
head -n 2 loo.csv
mercer fit f.csv --lambda 0.5 --loo -o m.mercer --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["loo_rmse"])'
mercer folds f.csv --folds 3 --seed 5 -q -o a.csv; mercer folds f.csv --folds 3 --seed 5 -q -o b.csv --threads 1; cmp a.csv b.csv && echo same
mercer folds f.csv --folds 3 --seed 6 -q -o b.csv; cmp -s a.csv b.csv || echo "another seed, other folds"
mercer folds f.csv --json --folds 2 | python3 -c 'import json, sys; r = json.load(sys.stdin); print(sorted(r), len(r["residual"]), len(r["std"]))'
awk -F, 'NR == 1 { print "ward," $0 } NR > 1 { print (NR % 3 ? "north" : "sou\"th") "," $0 }' OFS=, f.csv | sed 's/sou"th/"sou""th"/' > g.csv
mercer folds g.csv --groups ward --lambda 0.1; echo "exit $?"
mercer path g.csv --groups ward --from 1e-3 --to 1 --count 4; echo "exit $?"
mercer path f.csv --folds 3 --from 1e-3 --to 1e3 --count 4 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["best_lambda_folds"], sorted(r["rows"][0]))'
mercer generate moons -n 60 --noise 0.2 -o moons.csv -q
mercer folds moons.csv --folds 4 -k 'rbf(sigma=0.5)' -o c.csv; echo "exit $?"
head -n 2 c.csv
mercer folds f.csv --folds 1; echo "exit $?"
mercer folds f.csv --folds 91; echo "exit $?"
mercer folds g.csv --groups ward --folds 3; echo "exit $?"
mercer folds g.csv --groups word; echo "exit $?"
mercer folds f.csv --solver eigen; echo "exit $?"
mercer folds f.csv --norm-bound 3; echo "exit $?"
mercer folds f.csv --lambda -1; echo "exit $?"
mercer folds f.csv -m gp; echo "exit $?"
mercer folds f.csv --no-target; echo "exit $?"
mercer folds f.csv -k linear --lambda 0; echo "exit $?"
