mercer generate friedman1 -n 120 -o f.csv -q
mercer generate moons -n 120 --noise 0.3 -o m.csv -q
mercer generate moons -n 60 --noise 0.3 --seed 5 -o t.csv -q
mercer tune m.csv -m svc -k 'rbf(gamma=0.01..10)' -k linear --C 0.1..100 --points 4 --top 5 -o m.mercer | grep -v -e certificate -e vectors; echo "exit $?"
mercer show m.mercer | grep -e model -e chosen
mercer tune f.csv -k "rbf(gamma=1e-3..10)" --intercept --top 3 | grep -v -e certificate -e wherever; echo "exit $?"
mercer tune f.csv -m svr --C '{1,10}' --epsilon 0.1..0.5 -k 'rbf(gamma={0.1,1})' --points 2 --test f.csv --score mae --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r), len(r["candidates"]), r["splits"], r["score"], r["chosen"]["settings"], len(r["candidates"][0]["parts"]))'
mercer tune m.csv -m logistic --search random --candidates 4 --folds 3 --repeats 2 --journal j.log -q; echo "exit $?"
mercer tune m.csv -m logistic --search random --candidates 4 --folds 3 --repeats 2 --journal j.log > random.txt
grep -e resumed -e measured random.txt; grep -c '[0-9]\{12\}' random.txt; rm random.txt # numbers that were drawn have six digits
mercer tune t.csv -m logistic --search random --candidates 4 --folds 3 --repeats 2 --journal j.log; echo "exit $?"
mercer tune m.csv --test t.csv --score f1 --one-standard-error --top 0 -o x.mercer | grep -e measured; echo "exit $?"
mercer tune f.csv -m gp -k 'rbf(sigma={0.5,2})' --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["score"], r["splits"], len(r["candidates"]))'
mercer tune f.csv -m gp -k 'rbf(sigma=5..6)' --points 2 -q -o g.mercer; mercer show g.mercer | grep -o 'gamma=.*'
mercer tune f.csv -k 'rbf(gamma=0.01..10)[1:5]*rbf(gamma=1e-4..1)[6:10]' --lambda 1e-4..10 --search gradient --candidates 1 --json -o s.mercer | python3 -c '
import json, re, sys
r = json.load(sys.stdin)
print(re.sub("=[^)]*", "", r["chosen"]["kernel"]), r["splits"], round(r["chosen"]["score"], 2), 5 < r["measured"] == r["count"] < 50)'
mercer tune f.csv -m gp -k 'rbf(sigma=0.5..2)' --search gradient --candidates 2 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["score"], len(r["candidates"]))'
mercer tune m.csv -m svc --search gradient; echo "exit $?"
mercer tune f.csv --search gradient --test f.csv; echo "exit $?"
mercer plan f.csv --tune --search gradient --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["candidates"], r["splits"], r["fits"], r["possible"])'
mercer plan m.csv --tune -m svc --C 0.1..100 --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r), r["candidates"], r["splits"], r["fits"], r["possible"])'
mercer tune m.csv -m svc --C 10..1; echo "exit $?"
mercer tune m.csv -m svc --C 3..3; echo "exit $?"
mercer tune m.csv -m svc --lambda 1..2; echo "exit $?"
mercer tune m.csv -k 'rbf(gamma=3..1)'; echo "exit $?"
mercer tune m.csv -k 'rbf(width=1..3)'; echo "exit $?"
mercer tune m.csv --gamma 1..3; echo "exit $?"
mercer tune m.csv -m svc --C 3..; echo "exit $?"
(echo a,side,y; for i in 1 2 3 4 5 6 7 8; do echo $i,left,no; echo $i,right,yes; done) > sides.csv
mercer tune sides.csv --target y -m svc --groups side --folds 2; echo "exit $?"
mercer tune sides.csv --target y -m svc --groups side --folds 3; echo "exit $?"
rm sides.csv
mercer tune m.csv --folds 100; echo "exit $?"
mercer tune m.csv --candidates 9; echo "exit $?"
mercer tune f.csv --score accuracy; echo "exit $?"
mercer fit m.csv --C 1..10; echo "exit $?"
mercer fit m.csv -k rbf -k linear; echo "exit $?"
mercer tune m.csv -m svc --time-limit 0.001 -o late.mercer -q 2> /dev/null; echo "exit $?"; rm -f late.mercer
