# LIBSVM text whose columns are numbered up to 2^31 costs by its values, in every verb.
awk 'BEGIN { for (i = 0; i < 60; i++) { printf "%d", i % 2 ? 1 : -1
    for (k = 0; k < 8; k++) printf " %d:%.2f", 1 + k * 268435455 + (7 * i + 3 * k) % 11 * 1000003, (i % 2) + 0.1 * ((5 * i + k) % 7)
    print "" } }' > far.svm
echo '1 3:1 2147483640:2' > unseen.svm
m() { mercer "$@" --memory 100M > out.txt 2> err.txt && echo "$1: done" || { echo "$1: failed"; cat out.txt err.txt; }; }
m fit far.svm -m svc -o svc.mercer --time-limit 20
m fit far.svm -m svc -k linear -o linear.mercer
m fit far.svm -m ridge -k 'rbf(gamma=0.1)[1, 7] + linear' -o ridge.mercer --target-kind number
m tune far.svm -m svc --folds 2 -o tuned.mercer
m plan far.svm -m svc
m predict svc.mercer unseen.svm
m predict linear.mercer unseen.svm
m predict ridge.mercer unseen.svm
m score svc.mercer far.svm
m show far.svm
m show far.svm --json
m show svc.mercer
m show svc.mercer --rows far.svm
m gram rbf far.svm -o gram.npy
m gram linear far.svm far.svm -o gram.npy
m path far.svm -k rbf
m folds far.svm -m ridge -k rbf
m cluster far.svm -k rbf
m fit far.svm -m pca -k rbf -o pca.mercer
m fit far.svm -m lms -k linear -o lms.mercer --target-kind number
m update lms.mercer far.svm -o more.mercer
m export svc.mercer --to libsvm -o svc.model
m predict svc.model unseen.svm
m prove 'rbf + linear[2147483640]'
m test mmd far.svm far.svm -k rbf
mercer show far.svm | head -4
mercer show linear.mercer | grep -e columns -e kernel
# A graph of all the columns is refused before a number of it is written: by what its file can hold, or by the memory.
printf '1 1:0.5 1000000000:1\n-1 3:1 7:0.5\n1 5:1 1000000000:0.3\n-1 2:0.7\n' > widest.svm; sed 's/1000000000/20000000/' widest.svm > wide.svm
for machine in 'ridge --lambda 1' 'svc --C 1' knn; do for kernel in linear 'rbf(gamma=1)'; do
    mercer fit widest.svm -m $machine -k "$kernel" -q -o widest.mercer; mercer fit wide.svm -m $machine -k "$kernel" -q -o wide.mercer
    for format in onnx onnx-double; do mercer export widest.mercer --to $format -o graph.onnx --time-limit 1; echo "exit $?"
        mercer export wide.mercer --to $format -o graph.onnx --memory 100M --time-limit 1; echo "exit $?"; done
done; done
test ! -e graph.onnx || echo "a graph was left"
