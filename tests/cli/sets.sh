python3 $TESTS/gram_matrices.py
mercer fit K.csv -k precomputed --lambda 0.1 -o K.mercer -q; mercer predict K.mercer block.csv
mercer fit rows.csv -k 'rbf(gamma=0.5)' --lambda 0.1 -o rows.mercer -q; mercer predict rows.mercer new.csv
mercer fit K.libsvm -m svc -k precomputed -o svc.mercer -q; mercer predict svc.mercer block.libsvm
mercer export svc.mercer --to libsvm -o svc.model; mercer predict svc.model block.libsvm
mercer show K.mercer | head -4
mercer fit K.csv -k precomputed -m gp --no-learn --noise 0.1 -o gp.mercer -q; mercer predict gp.mercer block.csv --std; echo "exit $?"
mercer predict gp.mercer known.csv --std
mercer fit tall.csv -k precomputed; echo "exit $?"
mercer fit asymmetric.csv -k precomputed; echo "exit $?"
mercer fit indefinite.csv -k precomputed; echo "exit $?"
mercer fit indefinite.csv -k precomputed -m gp; echo "exit $?"
mercer fit indefinite.csv -k precomputed --allow-indefinite --lambda 2 -o odd.mercer | sed -n 2p
mercer fit indefinite.csv -k 'precomputed + 2*white' -o odd.mercer | sed -n 2p
mercer fit K.csv -k precomputed --scale standard; echo "exit $?"
mercer gram precomputed K.csv --check | tail -1
mercer prove precomputed; echo "exit $?"
mercer prove -- '-precomputed'; echo "exit $?"
mercer prove 'user("f")'; echo "exit $?"
