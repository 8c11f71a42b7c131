python3 $TESTS/sine.py > sine.csv
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 1; echo "exit $?"
ls
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 1 --allow-indefinite; echo "exit $?"
ls
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 4 --allow-indefinite; echo "exit $?"
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 4 --allow-indefinite --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernel_verdict"])'
mercer fit sine.csv -k rbf --allow-indefinite --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernel_verdict"])'
mercer fit sine.csv -k 'rbf(gamma=1) + exp(0.1*3)*linear - exp(0.1)^3*linear' --lambda 1; echo "exit $?"
mercer fit sine.csv -k 'rbf(gamma=1) + exp(0.1*3)*linear - exp(0.1)^3*linear' --lambda 1 --allow-indefinite | grep kernel; echo "exit $?"
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 1 --allow-indefinite --solver pcg; echo "exit $?"
mercer fit sine.csv -k 'rbf(gamma=1) - 0.0001*rbf(gamma=100)' --lambda 1e-5 --allow-indefinite --solver pcg; echo "exit $?"
mercer fit sine.csv -k rbf --lambda 1e-6 --tolerance 1e-14 --solver pcg | grep stopped; echo "exit $?"
