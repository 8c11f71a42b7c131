# Numbers at the edge: each is fitted with a certificate or refused with a reason and a cure, nothing in between.
fit() {
    mercer fit "$@" -o m.mercer 2>&1 | grep -E '^(machine|LOO|training|certificate|stopped|mercer)' \
        | sed 's/within [^ ]* of/within E of/'
    echo "exit ${PIPESTATUS[0]}"
}
printf 'x,y\n1,2.5\n1,2.5\n1,3.5\n2,4.5\n2,4.5\n5,1.5\n' > copies.csv
for lambda in 1e-300 1e-17; do
    fit copies.csv -k 'rbf(gamma=1)' --lambda $lambda
    fit copies.csv -k linear --lambda $lambda
done
fit copies.csv -k linear --lambda 1e-17 --solver pcg
fit copies.csv -k 'rbf(gamma=1)' --lambda 0 --intercept
printf 'x,y\n1,2.5\n' > one.csv
fit one.csv -k 'rbf(gamma=1)'
fit one.csv -k 'rbf(gamma=1)' --intercept
fit one.csv -k 'rbf(gamma=1)' --intercept --loo
mercer score m.mercer one.csv
printf 'x,y,w\n1,2.5,1\n2,1.5,0\n' > weightless.csv
fit weightless.csv -k 'rbf(gamma=1)' --weights w --intercept
for size in 1e300 1e-300; do
    printf "x,y\n1,$size\n2,-$size\n3,$size\n" > size.csv
    for machine in ridge gp lms svr; do fit size.csv -m $machine; done
done
printf 'x,y\n1,1e120\n2,-1e120\n3,1e120\n' > size.csv
fit size.csv -k 'rbf(gamma=1)'
fit size.csv -k 'rbf(gamma=1)' --solver pcg
# Cures that apply where they are printed: a target that is missing has no mean and is not asked for by predict; columns that are scaled are not
# told to be; a value that is there is not called absent; what is to be added to a matrix is enough.
printf 'x,y\n1,1\n2,\n3,2\n' > gap.csv; mercer generate sinc -n 30 --seed 1 -o sinc.csv -q; sed -i 's/^x1/x/' sinc.csv; mercer fit sinc.csv -k rbf --lambda 0.1 -q -o sinc.mercer
mercer fit gap.csv; mercer score sinc.mercer gap.csv; mercer predict sinc.mercer gap.csv | wc -l
for scale in none standard; do mercer fit sinc.csv -k rbf --lambda 1e6 --scale $scale | grep next; done
printf '2,-1\n-1,2\n' > K.csv; mercer gram 'precomputed^1.5' K.csv --no-target; echo "exit $?"
mercer gram '(1e200*precomputed)^2' K.csv --no-target; echo "exit $?"
python3 -c '
import random
n, draw = 12, random.Random(3)
A = [[draw.gauss(0, 1) for _ in range(n)] for _ in range(n)]
print("\n".join(",".join(repr((A[i][j] + A[j][i]) * 1e-7) for j in range(n)) + f",{i + 0.5}" for i in range(n)))' > negative.csv
mercer fit negative.csv -k precomputed 2> said; cat said; mercer fit negative.csv -k "precomputed + $(sed 's/.*add \(.*\)\*white.*/\1/' said)*white" -q -o n.mercer; echo "exit $?"
mercer score sinc.mercer <(printf 'x,y\n1,1e200\n2,-1e200\n'); mercer score sinc.mercer <(printf 'x,y\n1,1e-250\n2,2e-250\n')
mercer update sinc.mercer <(printf 'x,y\n1,1e200\n2,-1e200\n') -o u.mercer; echo "exit $?"
# Kernels that count columns are no kernels of a model on more of them: gibbs has their number in its exponent, wendland is one up to a number.
printf '1 1:0.1 2:1\n2 1:0.5 2:0.3\n3 1:0.9 2:0.2\n1.5 1:0.2 2:0.4\n' > two.svm
printf '0 1:0.5 2:1\n0 9:1\n' > nine.svm
for kernel in 'gibbs(0.5+x[1]^2)' 'wendland(dimension=2, length_scale=3)' 'gibbs(0.5+x[1]^2)[1:2]' 'wendland(dimension=9, length_scale=3)'; do
    mercer fit two.svm -k "$kernel" -m ridge --lambda 0.1 -o m.mercer --target-kind number -q
    mercer predict m.mercer nine.svm -q -o p.csv; echo "$kernel: $?"
    mercer update m.mercer nine.svm -o u.mercer -q; echo "$kernel: $?"
done
