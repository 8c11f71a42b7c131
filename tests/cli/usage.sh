# Every kind of bad usage is one sentence and status 2.
t() { echo "\$ mercer $*"; mercer "$@"; echo "exit $?"; }
t fti
t tune data.csv
t help frobnicate
t fit
t fit a.csv b.csv
t fit a.csv --lamda 1
t fit a.csv --frobnicate
t fit a.csv -x
t fit a.csv -k
t fit a.csv --json=yes
t fit a.csv --lambda 1 --lambda 2
t fit a.csv --intercept --no-intercept
t fit a.csv -m rigde
t fit a.csv -m zebra
t predict m.mercer
t prove -rbf
t prove rbf --threads 0
t prove rbf --threads two
t prove rbf --memory 4Q
t prove rbf --memory -1
t prove rbf --time-limit 0
t prove rbf -d 0
t prove rbf --seed 1.5
t generate moons -n 0
t generate monns
t generate moons --json
t gram rbf a.csv b.csv --check
