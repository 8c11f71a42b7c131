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
brief() { grep -E '^(mercer|machine|certificate|stopped)' | sed -E 's/norm [0-9.]+e-07/norm TINY/'; }
# Squares of parameters that no double holds: the values are those of the kernel, and what bounds them is a number.
printf 'x,y\n0.1,1\n0.4,2\n0.8,-1\n0.3,0.5\n' > p.csv; printf 'x,y\n0.1,a\n0.4,b\n0.8,a\n0.3,b\n' > c.csv
for kernel in 'periodic(length_scale=1e-200)' 'periodic(length_scale=1e200)' 'matern(length_scale=1e-200)' 'rq(length_scale=1e200)'; do
    for machine in 'huber' 'absolute' 'quantile' 'ridge --solver cholesky'; do mercer fit p.csv -m $machine --lambda 1 -k "$kernel" 2>&1 | brief; done
    mercer fit c.csv -m logistic --lambda 1 -k "$kernel" 2>&1 | brief
done
mercer path p.csv -m huber -k 'periodic(length_scale=1e-200)' --count 3
for kernel in 'rbf(gamma=P)' 'laplacian(gamma=P)' 'exponential(gamma=P)' 'matern(nu=0.5, length_scale=P)' 'matern(nu=2.5, length_scale=P)' 'rq(alpha=P)' \
    'rq(length_scale=P)' 'periodic(length_scale=P)' 'periodic(period=P)' 'poly(degree=2, c=P)' 'poly(degree=2, c=1, gamma=P)' 'P*rbf' 'rbf*periodic(length_scale=P)'; do
    for value in 1e-300 1e-200 1e100 1e200 1e300; do for machine in huber ridge; do
        mercer fit p.csv -m $machine --lambda 1 -k "$(echo "$kernel" | sed "s/P/$value/")" > said 2>&1; status=$?
        case $status in 0) if grep -Ewq 'inf|nan' said; then echo "$kernel $value $machine"; cat said; fi;; 6) ;; *) echo "exit $status"; cat said;; esac
    done; done
done
