# Numbers at the edge: each is fitted with a certificate or refused with a reason and a cure, nothing in between.
fit() {
    mercer fit "$@" -o m.mercer 2>&1 | grep -E '^(machine|left|training|certificate|stopped|mercer)' \
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
