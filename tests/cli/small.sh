# Tables of a few rows: what nobody asked for is never the reason of a refusal.
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' > four.csv
mercer tune four.csv --points 2 | grep measured
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n5,c\n' > single.csv
mercer tune single.csv -m logistic --points 2 | grep measured
mercer tune single.csv -m svc --folds 2; echo "exit $?"
printf 'x,y\n1,2.5\n' > one.csv
mercer tune one.csv; echo "exit $?"
mercer folds one.csv; echo "exit $?"
printf 'x,z,y\n1,2,2.5\n2,1,1.5\n' > two.csv
mercer fit two.csv -m knn | grep -v time; mercer fit two.csv -m knn --neighbors 5 ; echo "exit $?"
mercer fit two.csv -m pca -k linear | grep components; mercer fit one.csv -m pca; echo "exit $?"
mercer plan two.csv --tune -m knn | head -3
mercer tune two.csv -m huber --ordered; echo "exit $?"
