# On a terminal a bar appears after two seconds and is gone before the report; nowhere else.
mercer generate friedman1 -n 150 --seed 1 -o small.csv -q
cat > watch.py <<'P'
import os, pty, re, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    seen += piece
bar, wipe = re.search(rb"%  ([2-9]|\d\d+) s", seen), seen.rfind(b"\r\033[K")
print("a bar:", bar is not None, "wiped before the report:", wipe >= 0 and b"\nkernel" in seen[wipe:] and b"\nkernel" not in seen[:wipe])
P
python3 watch.py mercer fit small.csv -m gp --restarts 1000 --time-limit 4
python3 watch.py mercer fit small.csv -m gp --restarts 1000 --time-limit 4 -q
python3 watch.py mercer fit small.csv --lambda 0.1
# Conjugate gradients say how far they are and how long it will take; stopped, they hand over what they have, with a certificate.
sed -i 's/^print.*/print(b", residual " in seen, b"\\nstopped" in seen, b"\\ncertificate" in seen)/' watch.py
mercer generate friedman1 -n 12000 --seed 1 -o large.csv -q
for limit in 5 20 80; do # a busy machine may not come to the first step
  python3 watch.py mercer fit large.csv -k 'rbf(gamma=2)' --lambda 1e-4 --solver pcg --tolerance 1e-12 --rank 100 --time-limit $limit > said
  ! grep -q False said || continue; break
done
cat said
rm large.*
mercer fit small.csv -m gp --restarts 1000 --time-limit 3 2>&1 >/dev/null | wc -c
