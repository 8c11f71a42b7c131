mercer generate friedman1 -n 3000 --seed 1 -o big.csv -q
mercer fit big.csv --memory 1100K; echo "exit $?"
mercer fit big.csv --memory 20M --solver cholesky; echo "exit $?"
# How many rows would fit depends on threads and instruction set by a few; what must hold is that so many do, and a fiftieth more do not.
fit=$(mercer fit big.csv --memory 20M --solver cholesky 2>&1 | sed -n 's/.*(\([0-9]*\) rows would fit).*/\1/p')
for rows in $fit $((fit + fit / 50)); do
    head -n $((rows + 1)) big.csv > fits.csv; mercer fit fits.csv --memory 20M --solver cholesky -q -o fits.mercer 2> /dev/null; echo "exit $?"
done
rm fits.csv fits.mercer
# A limit that all rows do not fit in: a model all the same, of fewer rows, and said to be so.
mercer fit big.csv --solver cholesky --time-limit 0.05 -o few.mercer > said; echo "exit $?"
grep -o -e '^not exact .* mercer fit big.csv -m ridge --solver cholesky' said | sed 's/about [^,]*,/about T s,/; s/going by the last one, more stages would come to [0-9.]* at best; //'
rm few.mercer said
mercer gram rbf big.csv --memory 10M --check; echo "exit $?"
ls
# Where the factorisation does not fit, another way to the same answer does.
head -n 901 big.csv > some.csv
mercer fit some.csv --memory 2M -o s.mercer --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["solver"], r["stopped"], 0 < r["iterations"] <= r["iteration_bound"], r["certificate"]["residual_relative"] < 1.1e-6)'
mercer fit some.csv --memory 2M --loo -o s.mercer | grep 'LOO error'
mercer fit some.csv --solver pcg --checkpoint state --json > first.json; echo "exit $?"
mercer fit some.csv --solver pcg --checkpoint state --json > second.json; echo "exit $?"
mercer fit some.csv --solver pcg --checkpoint state --lambda 2; echo "exit $?"
# A machine that improves its answer step by step hands over the best one so far.
head -n 151 big.csv > small.csv
mercer fit small.csv -m gp --restarts 1000 --time-limit 2 -o g.mercer | grep stopped; echo "exit ${PIPESTATUS[0]}"
mercer show g.mercer | grep -o 'g.mercer: gp'
mercer fit small.csv -m gp --restarts 1000 --time-limit 2 -o g.mercer --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["stopped"])'
# The smallest limit that a refusal names is one that works, whichever way it belongs to.
mercer generate friedman1 -n 200 --seed 1 -o small.csv -q
mercer fit small.csv --memory 100K 2>&1 | tee said | sed 's/[0-9.]* KiB/K KiB/g'
limit=$(sed -n 's/.* with a limit of \([0-9]*\).*/\1/p' said); mercer fit small.csv --memory $((limit + 1))K -q -o s.mercer; echo "exit $?"
# A class for every row: what their pairs take is asked before anything is done, and the plan says it.
awk 'BEGIN { print "x,kind"; for (i = 1; i <= 2000; i++) print i % 37 ",name" i }' > names.csv
mercer fit names.csv --memory 500M; echo "exit $?"
mercer tune names.csv --memory 500M -q; echo "exit $?"
mercer plan names.csv --memory 500M -q; echo "exit $?"
