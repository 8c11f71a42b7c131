# Names and labels reach a terminal without the power to do anything there; UTF-8 stays legible, and files have the bytes as they are.
printf 'grö\033]0;owned\007ße,word,class\n1,a,"\033[31mrot\n verdict  PROVED"\n2,b,\302\233\342\200\256blau\n3,a,ähre\n5,c,ähre\n' > wild.csv
mercer show wild.csv | cat -v
printf 'x,class\n1,\377\n2,b\n' | mercer show - | grep -a -A1 classes | cat -v
mercer fit wild.csv -m svc -k linear -o wild.mercer -q
mercer show wild.mercer 2>&1 | grep -a classes | cat -v
mercer fit wild.csv --target $'no\033[2Jne' 2>&1 | cat -v
mercer fit $'no\033[2Jne.csv' 2>&1 | cat -v
mercer prove $'rbf(gamma=\033[1m2)' 2>&1 | cat -v
mercer predict wild.mercer wild.csv | tail -3 | od -An -c | head -3
python3 $TESTS/terminal.py mercer predict wild.mercer wild.csv
python3 $TESTS/terminal.py mercer $'\033[2Jfit'
