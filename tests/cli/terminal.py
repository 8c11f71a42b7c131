"""terminal.py COMMAND...: what a command prints to a terminal, its control bytes written out."""
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
os.waitpid(pid, 0)
text = seen.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
print("".join(c if c == "\n" or c.isprintable() else f"<{ord(c):02x}>" for c in text), end="")
