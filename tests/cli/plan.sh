mercer generate friedman1 -n 300 -o f.csv -q
mercer plan f.csv > plan.txt; echo "exit $?"
cut -c 1-12 plan.txt | sort -u
mercer plan f.csv --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r), r["solver"], r["memory_bytes"] >= 300 * 300 * 4, r["seconds_estimate"] >= 0, len(r["alternatives"]) > 0)'
mercer generate moons -n 900 --noise 0.3 -o moons.csv -q
mercer plan moons.csv -m svc | grep '^search' | tr -s ' '
mercer plan moons.csv -m svc --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["search"]; print(r["candidates"], r["rows"], r["splits"])'
mercer plan moons.csv -m svc --C 1 | grep -c '^search'
rm moons.csv
mercer plan f.csv --solver eigen --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["solver"])'
mercer plan f.csv --memory 10K; echo "exit $?"
mercer generate friedman1 -n 1000 -o g.csv -q
mercer plan g.csv --memory 3M --threads 2 | tr -s ' '; echo "exit ${PIPESTATUS[0]}"
mercer generate friedman1 -n 3000 -o h.csv -q
mercer plan h.csv --solver eigen --time-limit 0.3 | grep -c -e '^late .*eigen does not finish within 0.3 s'
rm h.csv
mercer plan g.csv -m gp --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["machine"])'
ls
