# Digits are shown of fits at a tolerance of 1e-9: there the optimum, which is unique, decides them; at 1e-3 the path to it does, which
# changes with the rounding of the instruction set.
python3 $TESTS/iris.py > trees.csv
python3 $TESTS/sine.py > sine.csv
mercer fit trees.csv --tolerance 1e-9 -o trees.mercer; echo "exit $?"
mercer show trees.mercer
head -4 trees.csv > new.csv
mercer predict trees.mercer new.csv --decision
mercer predict trees.mercer new.csv
mercer fit trees.csv -m svc --multiclass ovr --C 10 -o rest.mercer -q; mercer predict rest.mercer new.csv --decision | head -1
mercer score trees.mercer trees.csv
mercer fit trees.csv --C 0.5 --class-weight balanced -q -o balanced.mercer; echo "exit $?"
mercer fit trees.csv -m svc --class-weight pine=2 -q; echo "exit $?"
grep -v -e oak trees.csv | head -30 > few.csv; mercer fit few.csv -m nu-svc --nu 1 -q; echo "exit $?"
mercer fit sine.csv -m svr --epsilon 0.05 --tolerance 1e-9 -o sine.mercer; echo "exit $?"
mercer fit sine.csv -m nu-svr --nu 0.3 --tolerance 1e-9 -q -o nu.mercer; mercer score nu.mercer sine.csv
mercer fit sine.csv -m one-class --nu 0.1 --tolerance 1e-9 -o region.mercer; echo "exit $?"
head -2 sine.csv | mercer predict region.mercer - --decision
# The free vectors lie on the edge and fall to either side by rounding, so rows are counted with a margin: as many as the report says.
mercer predict region.mercer sine.csv --decision | python3 -c '
import sys
f = [float(line.split(",")[1]) for line in list(sys.stdin)[1:]]
print(sum(v < -1e-6 for v in f), "outside,", sum(abs(v) <= 1e-6 for v in f), "on the edge,", sum(v > 1e-6 for v in f), "inside")'
mercer score region.mercer sine.csv | grep -o "^[a-zA-Z]*"
mercer fit trees.csv -m svr -q; echo "exit $?"
mercer fit sine.csv -m svc -q -k 'tanh(a=1, c=1)'; echo "exit $?"
mercer fit sine.csv -m svr --C inf -q; echo "exit $?"
mercer plan trees.csv -m svc | tr -s ' '
mercer fit trees.csv --json -o trees.mercer | python3 -c 'import json, sys; r = json.load(sys.stdin); c = r["certificate"]; print(sorted(c), c["kind"], 0 <= c["gap_relative"] < 1e-3, c["kkt_violation"] <= 1e-3, r["support_vectors"] > 0, r["machine"], r["classes"])'
mercer fit trees.csv --scale none -q -o words.mercer; mercer export words.mercer --to libsvm; echo "exit $?"
printf '1 1:1 3:2\n1 1:0.5 3:1\n-1 1:-1\n-1 2:-1 3:-0.5\n' > small.svm
mercer fit small.svm -m svc -k 'rbf(gamma=0.5)' --scale none --tolerance 1e-9 -q -o small.mercer; mercer export small.mercer --to libsvm -o small.model; echo "exit $?"
mercer export small.mercer --to libsvm | head -8
mercer show small.model
mercer predict small.model small.svm
mercer score small.model small.svm
mercer export small.mercer --to pmml; echo "exit $?"
mercer export small.mercer; echo "exit $?"; mercer export small.mercer --to onnx; echo "exit $?"
mercer fit trees.csv --scale standard -q -o scaled.mercer; mercer export scaled.mercer --to libsvm; echo "exit $?"
printf '0 1:1 3:2\n1 1:0.5 3:1\n' > strange.svm; mercer predict small.mercer strange.svm; mercer score small.mercer strange.svm # a label that the model does not know
# The primal view, and what is said of a point that is only stationary or that ran out of steps.
mercer fit trees.csv --tolerance 1e-9 -q -o view.mercer; mercer show view.mercer --rows trees.csv | head -3
mercer show view.mercer --rows trees.csv -o rows.csv; wc -l < rows.csv
mercer show sine.mercer --rows sine.csv --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["decisions"][0]["bounded"], len(r["rows"]), sorted(r["rows"][0]))'
mercer show trees.mercer --rows sine.csv; echo "exit $?"
mercer show small.model --rows small.svm; echo "exit $?"
mercer fit trees.csv -m svc -k 'tanh(a=1, c=0)' --allow-indefinite --tolerance 1e-9 -o tanh.mercer | grep -A 1 certificate
mercer fit trees.csv -m svc --iterations 3 -o tanh.mercer | grep stopped
awk 'BEGIN { print "u,v,y"; for (i = 0; i < 24; i++) print i * 7 % 24 "e6," i % 5 "," (i * i % 3 == 1 ? "a" : "b") }' > wild.csv
mercer fit wild.csv -m svc -k linear --scale none --C 1e12 -o wild.mercer | grep stopped
# Degenerate data, and a machine of rows alone whose file has words where others have a target.
printf 'x,y,w\n1,a,1\n2,b,1\n3,a,1\n4,c,0\n5,b,1\n6,a,1\n' > empty.csv; mercer fit empty.csv -m nu-svc --weights w -q; mercer fit empty.csv -m nu-svc --nu 0.9 -q --weights w 2>&1; sed 's/,1$/,0/' empty.csv > none.csv; mercer fit none.csv -m svc --weights w -q
printf 'x,y\n1,a\n1,a\n1,b\n1,b\n' > same.csv; mercer fit same.csv -m nu-svc --nu 0.5 -q; mercer fit same.csv -m nu-svc --nu 1 -q; mercer fit same.csv -m svc --C inf -q
mercer fit same.csv -m one-class -k 'rbf(gamma=1)' -q -o words.mercer && mercer predict words.mercer same.csv | tail -1; mercer score words.mercer same.csv
printf '1 1:1\n-1 9:1\n1 2:1\n-1 8:1\n' > sparse.svm; mercer fit sparse.svm -m svc --scale none | grep '^rows'
# A factor 1 is kept in the expression and changes nothing else: weights, files and exports are those of the kernel itself.
printf 'u,v,y\n1,2,1\n2,1,1\n3,5,2\n4,4,2\n6,5,2\n0,1,1\n' > plain.csv
for k in linear 'rbf(gamma=1)'; do
  mercer fit plain.csv -m svc --scale none -k "$k" -q -o plain.mercer; mercer fit plain.csv -m svc --scale none -k "1*$k" -q -o once.mercer
  mercer predict plain.mercer plain.csv --decision > plain.out; mercer predict once.mercer plain.csv --decision | cmp - plain.out && echo "1*$k predicts the same"
  mercer export plain.mercer --to libsvm > plain.model; mercer export once.mercer --to libsvm | cmp - plain.model && echo "1*$k exports the same"
done
# Columns of K made anew in double for a working set that is not all rows, where K is stored in floats.
mercer generate friedman1 -n 1500 --seed 1 -o many.csv -q
for precision in single double; do
    mercer fit many.csv -m svr -k 'rbf(gamma=1)' --C 1000 --precision $precision -o many.mercer --json
done | python3 -c '
import json, sys
one, two = (json.loads(part + "}")["certificate"] for part in sys.stdin.read().split("\n}\n")[:2])
print(abs(one["primal"] - two["primal"]) < 0.01 * two["primal"], one["gap_relative"] < 0.01)'
mercer generate moons -n 60 --noise 0.6 --seed 3 -o mixed.csv -q
for how in --nearest-nu --nu-fallback ''; do mercer fit mixed.csv -m nu-svc --nu 0.01 -k linear $how | grep -e '^machine' -e '^nearest'; done
mercer fit mixed.csv -m nu-svc --nu 0.01 -k linear --nearest-nu --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["nearest_nu"], r["programs"])'
