# Numbers at the ends of the doubles: a refusal names the column, the value and the cure, and no sentence is false.
table() { python3 -c "
import random
random.seed(1)
print('a,big,y')
for i in range(30):
    print(f'{random.gauss(0, 1):.4f},{$1!r},{random.gauss(0, 1):.4f}')"; }
table 1e300 > constant.csv; table '1e200*random.gauss(0, 1)' > wide.csv; table '1.5e308' > largest.csv
printf 'x,y\n1e-200,1\n2e-200,2\n3e-200,1\n' > narrow.csv
for file in constant wide largest; do mercer fit $file.csv --scale none -k rbf --lambda 1; echo "exit $?"; done
mercer fit constant.csv; mercer fit narrow.csv; mercer cluster constant.csv; mercer fit constant.csv -k linear --lambda 1
for machine in ridge svr knn pca; do mercer fit constant.csv -m $machine --scale standard -q -o m.mercer; echo "exit $?"; done
for kernel in 'rbf(gamma=1e-320)' 'rbf(gamma=0)' 'rbf(gamma=-0)' 'rbf(gamma=-1e-320)' 'spectrum(p=0)' 'spectrum(p=1e20)' 'rq(alpha=1e-310)' \
    'rbf(sigma=1e200)' 'poly(degree=0)' '1e999*rbf'; do mercer prove "$kernel" 2>&1 | head -1; done
for option in '--lambda 1.0000001e100' '--lambda -1e-320' '--lambda 1e999' '--rank 99999999999999999999'; do mercer fit wide.csv $option; done
mercer tune wide.csv --lambda 1..1.0000001e100; mercer tune wide.csv -m svr --C 1..1e999
