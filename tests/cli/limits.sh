mercer generate friedman1 -n 3000 --seed 1 -o big.csv -q
mercer fit big.csv --memory 2M; echo "exit $?"
mercer fit big.csv --memory 20M; echo "exit $?"
mercer fit big.csv --time-limit 0.05; echo "exit $?"
mercer gram rbf big.csv --memory 10M --check; echo "exit $?"
ls
# A machine that improves its answer step by step hands over the best one so far.
head -n 151 big.csv > small.csv
mercer fit small.csv -m gp --restarts 1000 --time-limit 2 -o g.mercer | grep stopped; echo "exit ${PIPESTATUS[0]}"
mercer show g.mercer | grep -o 'g.mercer: gp'
mercer fit small.csv -m gp --restarts 1000 --time-limit 2 -o g.mercer --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["stopped"])'
