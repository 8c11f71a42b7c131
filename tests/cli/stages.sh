# Under a time limit there is a model, better than the mean or the commonest class, and each stage only took the place of a worse one.
mercer generate friedman1 -n 20000 --noise 1 --seed 1 -o numbers.csv -q
mercer generate moons -n 20000 --noise 0.3 --seed 1 -o classes.csv -q
cat > look.py <<'P'
import json, sys
r = json.load(sys.stdin)
s = r.get("stages")
if not s:
    print("in one go", r["stopped"])
    sys.exit()
kept = [x["error"] for x in s["stages"] if x["kept"] and x["error"] is not None]
better = all(b < a for a, b in zip(kept, kept[1:]))
beaten = s["constant"] is None or not kept or kept[-1] < s["constant"]
chosen = s["stages"][s["chosen"]]
print("stages" if s["exact"] or "mercer fit" in s["exact_command"] else "no command", "better" if better else kept,
      "beats the constant" if beaten else kept, chosen["kept"], r["stopped"] in ("time", "no"), s["by"])
P
# A machine busy with other things may not even read the rows in 0.6 s: then there is more time.
fit() {
    for seconds in 0.6 3 15; do
        mercer fit "$@" --time-limit $seconds -o m.mercer --json > out.json 2> err.txt
        [ ! -s out.json ] || break
    done
    python3 look.py < out.json
}
for machine in ridge svr gp huber lms knn; do fit numbers.csv -m $machine; done
for machine in svc logistic ridge nu-svc squared-hinge; do fit classes.csv -m $machine; done
for machine in pca one-class; do fit numbers.csv -m $machine -q; done
# However short it is, as long as the rows are read.
mercer fit numbers.csv -k rbf --time-limit 0.1 -o m.mercer > /dev/null; echo "exit $?"
# The file keeps it, and show says it.
mercer show m.mercer --json | python3 -c 'import json, sys; s = json.load(sys.stdin)["stages"]; print(s["by"], s["rows"], len(s["stages"]) > 0)'
mercer show m.mercer | grep -c "^stages "
