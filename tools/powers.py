#!/usr/bin/env python3
"""powers.py LOW HIGH: a C table of 5^q to 128 bits, rounded down, for LOW <= q <= HIGH. See src/base/decimal.h."""
import sys


def top_bits(q):
    """floor(5^q 2^k) with k such that the result lies in [2^127, 2^128)."""
    power = 5 ** abs(q)
    length = power.bit_length()
    if q >= 0:
        return power << (128 - length) if length <= 128 else power >> (length - 128)
    return (1 << (length + 127)) // power


low, high = map(int, sys.argv[1:])
print("/* Made by tools/powers.py. */")
print('#include "base/decimal.h"')
print(f'_Static_assert(MC_POWER_LOW == {low} && MC_POWER_HIGH == {high}, "the range asked for in meson.build");')
print("const uint64_t mc_power_of_five[][2] = {")
for q in range(low, high + 1):
    bits = top_bits(q)
    print(f"    {{0x{bits >> 64:016x}, 0x{bits & (1 << 64) - 1:016x}}}, /* {q} */")
print("};")
