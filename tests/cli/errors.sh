# Bad input: one sentence that names the place, status 2, nothing written.
t() { echo "\$ mercer $*"; mercer "$@"; echo "exit $?"; }
python3 $TESTS/sine.py > sine.csv
mercer fit sine.csv -q
t fit nothing.csv
t fit sien.csv
t predict sine.mercr sine.csv
t fit .
t fit sine.csv/x
printf 'x,y\n1,2\n3\n' > ragged.csv; t fit ragged.csv
printf 'x,y\n1,2\n,4\n' > hole.csv; t fit hole.csv
printf 'x,y\n1,2\n,4\n5,6\n' > hole.csv; t fit hole.csv --missing mean -q -o h.mercer
: > empty.csv; t fit empty.csv
t fit sine.csv --target z
t fit sine.csv --target 7
t fit sine.csv --target x --no-target
t fit sine.csv --target-kind words
t fit sine.csv --missing guess
t fit sine.csv --lambda -1
t fit sine.csv --lambda abc
t fit sine.csv --scale huge
t fit sine.csv -k 'rbf[z]'
t fit sine.csv -k 'rbf(gamma=-1)'
t fit sine.csv -k 'rbf +'
t fit sine.mercer
t fit sine.csv -o no/such/folder/m.mercer
t fit sine.csv -o .
t predict sine.mercer nothing.csv
t predict nothing.mercer sine.csv
head -c 100 sine.mercer > cut.mercer; t predict cut.mercer sine.csv
head -c -8 sine.mercer > cut.mercer; t show cut.mercer
printf 'hello' > text.mercer; t predict text.mercer sine.csv
t score sine.mercer .
t predict sine.mercer sine.csv -o no/such/p.csv
ls
