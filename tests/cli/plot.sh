facts() { python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["kind"], r["marks"], "|".join(r["words"]))'; }
starts() { head -c 4 "$1" | tr -cd 'A-Za-z<%?'; echo; }
mercer generate moons -n 60 --noise 0.2 --seed 1 -o moons.csv -q
mercer generate sinc -n 30 --noise 0.1 --seed 2 -o sinc.csv -q
mercer fit moons.csv -m svc -k 'rbf(gamma=2)' --scale none -o svc.mercer -q
mercer fit moons.csv -m logistic -k 'rbf(gamma=2)' --scale none --lambda 0.1 -o log.mercer -q
mercer fit moons.csv -m pca -k 'rbf(gamma=2)' --scale none -o pca.mercer -q
mercer fit sinc.csv -m ridge -k 'rbf(sigma=1)' --lambda 0.1 -o ridge.mercer -q
mercer fit sinc.csv -m gp -k 'rbf(sigma=1)' --noise 0.01 --no-learn -o gp.mercer -q
mercer plot svc.mercer moons.csv -o regions.svg; echo "exit $?"; starts regions.svg
mercer plot svc.mercer moons.csv -o regions.svg --json | facts
mercer plot log.mercer moons.csv --kind regions --columns x2,x1 -o regions.png --json | facts; starts regions.png
mercer plot log.mercer moons.csv --kind confusion -o confusion.pdf --json | facts; starts confusion.pdf
mercer plot log.mercer moons.csv --kind calibration -o calibration.svg --json | facts | sed 's/[0-9.]*|.*//'
mercer plot pca.mercer moons.csv -o scatter.svg --json | facts
mercer plot pca.mercer moons.csv --columns pc2,pc1 -o scatter.svg --json | facts | grep -o 'component.*|0'
mercer plot pca.mercer moons.csv --columns pc1,pc3 -o scatter.svg; echo "exit $?"
mercer plot gp.mercer sinc.csv -o curve.svg --json | facts
mercer plot ridge.mercer sinc.csv --kind residuals -o residuals.svg --json | facts
mercer tune moons.csv -m svc -k 'rbf(gamma=0.1..10)' --C 0.1..100 --points 3 --folds 2 -o tuned.mercer -q
mercer plot tuned.mercer --kind surface -o surface.svg --json | facts
mercer plot tuned.mercer moons.csv --kind learning-curve -o curve.svg --json | facts
mercer plot svc.mercer --kind surface -o no.svg; echo "exit $?"
mercer fit sinc.csv -m ridge -k 'rbf(sigma=1)' --lambda 0.1 --solver pcg --tolerance 1e-3 --trace steps.csv -o pcg.mercer | grep trace; head -n 1 steps.csv
mercer plot steps.csv -o convergence.svg; starts convergence.svg
mercer plot steps.csv --against steps -o convergence.svg --json | facts
mercer fit moons.csv -m svc -k 'rbf(gamma=2)' --scale none --trace steps.csv -o svc.mercer --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["trace"]["runs"], "run")'
cut -d, -f2,4 steps.csv | sort -u
mercer plot steps.csv --against steps -o convergence.svg --json | facts | sed 's/ [0-9]* convergence/ convergence/; s/|0|.*steps/|...|steps/'
mercer fit moons.csv -m logistic --lambda 0.1 -k 'rbf(gamma=2)' --trace loss.csv -q -o loss.mercer; tail -n 1 loss.csv | cut -d, -f2,4,6
mercer fit sinc.csv -k rbf --lambda 0.1 --solver cholesky --trace direct.csv -q -o ridge2.mercer; mercer plot direct.csv -o no.svg; echo "exit $?"
mercer fit sinc.csv -k rbf --lambda 0.1 --solver cholesky --trace direct.csv -o ridge2.mercer 2>&1 | grep -e trace -e note
mercer fit sinc.csv -k rbf --lambda 0.1 --trace sinc.csv; echo "exit $?"
mercer plot steps.csv --kind gram -o no.svg; echo "exit $?"
mercer plot steps.csv moons.csv -o no.svg; echo "exit $?"
mercer plot moons.csv --kind convergence -o no.svg; echo "exit $?"
mercer plot moons.csv --kind gram --against steps -o no.svg; echo "exit $?"
(head -n 3 steps.csv; echo 1,2,x) > bad.csv; mercer plot bad.csv -o no.svg; echo "exit $?"
mercer plot pca.mercer moons.csv --kind learning-curve -o no.svg; echo "exit $?"
mercer plot moons.csv -k 'rbf(gamma=2)' -o gram.svg --json | facts
mercer plot moons.csv -k 'poly(degree=2, c=1)' --kind spectrum -o spectrum.svg --json | facts
mercer plot -k 'rbf(gamma=1)' -o profile.svg --json | facts
mercer plot -k 'linear + 1' -o profile.svg --json | facts
cp regions.png before.png; mercer plot log.mercer moons.csv --kind regions --columns x2,x1 --threads 1 -o regions.png -q; cmp before.png regions.png && echo "the same bytes again"
mercer plot; echo "exit $?"
mercer plot svc.mercer -o regions.svg; echo "exit $?"
mercer plot moons.csv --kind regions -o no.svg; echo "exit $?"
mercer plot moons.csv -o no.jpg; echo "exit $?"
mercer plot moons.csv --kind grma -o no.svg; echo "exit $?"
mercer plot svc.mercer moons.csv --columns x1,y9 -o no.svg; echo "exit $?"
mercer plot svc.mercer moons.csv --columns x1 -o no.svg; echo "exit $?"
mercer plot svc.mercer moons.csv --kind curve -o no.svg; echo "exit $?"
mercer plot svc.mercer moons.csv --kind calibration -o no.svg; echo "exit $?"
mercer plot ridge.mercer sinc.csv --kind regions -o no.svg; echo "exit $?"
mercer plot ridge.mercer sinc.csv --kind scatter -o no.svg; echo "exit $?"
mercer plot ridge.mercer sinc.csv -k rbf -o no.svg; echo "exit $?"
mercer plot ridge.mercer svc.mercer -o no.svg; echo "exit $?"
mercer plot moons.csv --size 10x10 -o no.svg; echo "exit $?"
mercer plot moons.csv -o no/where.svg; echo "exit $?"
ls no* 2>/dev/null
mercer plot svc.mercer moons.csv --kind confusion --columns x1,x2 -o no.svg; echo "exit $?"
mercer plot svc.mercer moons.csv --target x1 -o no.svg; echo "exit $?"
