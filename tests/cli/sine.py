"""sine.py [N]: y = sin(x) + 0.1 sin(50 x) on an even grid, columns x and y: the same text everywhere."""
import math
import sys

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
print("x,y")
for i in range(n):
    x = 6 * i / (n - 1)
    print(f"{x:.6f},{math.sin(x) + 0.1 * math.sin(50 * x):.6f}")
