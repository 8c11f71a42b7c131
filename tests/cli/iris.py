"""iris.py [N]: a small table with three well separated classes, written without random numbers."""
import math
import sys

print("length,width,kind")
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    k = i % 3
    print(f"{k + 0.3 * math.sin(7 * i):.6f},{1 - k * k / 2 + 0.3 * math.cos(5 * i):.6f},{['oak', 'ash', 'elm'][k]}")
