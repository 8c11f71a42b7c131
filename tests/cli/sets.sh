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
mercer gram precomputed asymmetric.csv --check; echo "exit $?"
mercer gram precomputed asymmetric.csv | head -3
mercer cluster asymmetric.csv -k precomputed -c 2; mercer cluster asymmetric.csv -k precomputed -c 2 --method spectral; echo "exit $?"
mercer fit indefinite.csv -k precomputed; echo "exit $?"
mercer fit indefinite.csv -k precomputed -m gp; echo "exit $?"
mercer fit indefinite.csv -k precomputed --allow-indefinite --lambda 2 -o odd.mercer | sed -n 2p
mercer fit indefinite.csv -k 'precomputed + 2*white' -o odd.mercer | sed -n 2p
mercer fit K.csv -k precomputed --scale standard; echo "exit $?"
mercer gram precomputed K.csv --check | tail -1
mercer prove precomputed; echo "exit $?"
mercer prove -- '-precomputed'; echo "exit $?"
mercer prove 'user("f")'; echo "exit $?"
printf 'a,word,class\n1,GATTACA,a\n2,TTACAG,a\n1,CCCGGG,b\n2,ACCCGGT,b\n' > words.csv
mercer gram 'spectrum(p=3)[word]' words.csv -q
mercer fit words.csv -m svc -k 'rbf(sigma=2)[a] + 0.3*normalize(spectrum(p=3)[word])' -o words.mercer -q; mercer show words.mercer | head -4
mercer predict words.mercer words.csv
tail -n +2 words.csv > bare.csv; mercer fit bare.csv -m ridge -k 'spectrum(p=2)[2]' -o bare.mercer -q && mercer predict bare.mercer bare.csv
printf 'word,a\nTGATTACC,1\n' | mercer predict words.mercer -
printf 'word,a\nTG,1\n' | mercer predict words.mercer - -q | wc -l; echo "exit $?"
mercer fit words.csv -k 'spectrum(p=3)[wrod]'; echo "exit $?"
mercer fit words.csv -k 'spectrum(p=7)[word]' -o seven.mercer | sed -n 2,4p
mercer fit words.csv -k 'spectrum(p=8)[word]'; echo "exit $?"
mercer fit words.csv -k '(rbf + spectrum)[word]'; echo "exit $?"
mercer prove -- '-spectrum(p=3)[word]'; echo "exit $?"
mercer test mmd rows.csv rows.csv --permutations 99 --no-target; echo "exit $?"
mercer test hsic rows.csv --x 1 --y 2 --permutations 99 --no-target --json | grep -v kernel
mercer test anova rows.csv rows.csv; echo "exit $?"
mercer test hsic rows.csv; echo "exit $?"
mercer cluster rows.csv -k linear -c 3 -o groups.csv; sort groups.csv | uniq -c
mercer cluster rows.csv -c 13; echo "exit $?"
mercer cluster rows.csv --method spectral -k 'rbf(sigma=0.3)' -c 3 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["method"], r["sizes"], len(r["eigenvalues"]))'
mercer cluster rows.csv --method spectral -k linear; echo "exit $?"; mercer cluster rows.csv --method x; echo "exit $?"
# Other kernels of texts.
for kernel in 'spectrum(p=3, mismatches=1)' 'subsequence(p=2, decay=0.5, span=4)' 'weighted_degree(p=3)' words; do
    mercer gram "$kernel[word]" words.csv -q | head -1
    mercer fit words.csv -m svc -k "normalize($kernel[word])" -o texts.mercer -q && mercer predict texts.mercer words.csv -q | tr '\n' ' '
done
mercer fit words.csv -k 'subsequence(p=4, span=3)[word]'; echo "exit $?"
