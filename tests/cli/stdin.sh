python3 $TESTS/sine.py > sine.csv
mercer fit - -q < sine.csv; ls
mercer fit - -o sine.mercer --lambda 0.01 < sine.csv | grep data; echo "exit $?"
mercer predict sine.mercer - < sine.csv > p1.csv; mercer predict sine.mercer sine.csv > p2.csv; cmp p1.csv p2.csv && echo same
gzip -c sine.csv | mercer predict sine.mercer - | cmp - p2.csv && echo same
mercer score sine.mercer - --json < sine.csv | python3 -c 'import json, sys; print(json.load(sys.stdin)["n"])'
mercer gram linear - --no-target < /dev/null; echo "exit $?"
mercer show - < sine.csv | head -n 1
mercer generate moons -n 20 | mercer fit - -k linear -q -o m.mercer; echo "exit $?"
