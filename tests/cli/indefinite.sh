python3 $TESTS/sine.py > sine.csv
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 1; echo "exit $?"
ls
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 1 --allow-indefinite; echo "exit $?"
ls
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 4 --allow-indefinite; echo "exit $?"
mercer fit sine.csv -k 'tanh(a=1, c=0)' --lambda 4 --allow-indefinite --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernel_verdict"])'
mercer fit sine.csv -k rbf --allow-indefinite --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernel_verdict"])'
mercer fit sine.csv -k 'laplacian(gamma=2) - 0.1*laplacian(gamma=1)' --lambda 1; echo "exit $?"
mercer fit sine.csv -k 'laplacian(gamma=2) - 0.1*laplacian(gamma=1)' --lambda 1 --allow-indefinite | grep kernel; echo "exit $?"
