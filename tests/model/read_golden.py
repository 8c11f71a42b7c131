#!/usr/bin/env python3
"""A second reader of model files, in plain Python from docs/model-format.md alone: header, tiling, checksum, prediction."""
import json
import math
import os
import struct
import sys

TYPES = {"F64": ("d", 8), "F32": ("f", 4), "I64": ("q", 8), "I32": ("i", 4)}


def crc64(data):
    """CRC-64/XZ, bit by bit."""
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFFFFFFFFFF


def read(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    assert (8 + length) % 8 == 0, "the arrays are not aligned"
    header = json.loads(data[8 : 8 + length])
    meta = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in meta.values())
    place = data.index(meta["checksum"].encode())
    assert crc64(data[:place] + b"0" * 16 + data[place + 16 :]) == int(meta["checksum"], 16), "checksum"
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        code, size = TYPES[entry["dtype"]]
        begin, stop = entry["data_offsets"]
        assert begin == end and stop - begin == size * math.prod(entry["shape"]), name
        arrays[name] = struct.unpack(f"<{(stop - begin) // size}{code}", data[8 + length + begin : 8 + length + stop])
        end = stop
    assert 8 + length + end == len(data), "the arrays do not fill the file"
    return meta, arrays


def centres(meta, arrays):
    n, d = int(meta["centres"]), int(meta["columns"])
    if meta["layout"] == "dense":
        return [list(arrays["centres"][i * d : (i + 1) * d]) for i in range(n)]
    rows = [[0.0] * d for _ in range(n)]
    start = arrays["centres.row_start"]
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            rows[i][arrays["centres.column"][k]] = arrays["centres"][k]
    return rows


def dot(x, z):
    return sum(a * b for a, b in zip(x, z))


KERNELS = {
    "0.5*rbf(gamma=0.5) + linear": lambda x, z: 0.5 * math.exp(-0.5 * sum((a - b) ** 2 for a, b in zip(x, z))) + dot(x, z),
    "poly(degree=2, c=1, gamma=1)": lambda x, z: (1 + dot(x, z)) ** 2,
    "1 + linear": lambda x, z: 1 + dot(x, z),
}
EXPECTED = {  # the first row of the training data
    "numbers": [1.0061149462126808, -0.77543462851371225],
    "classes": [0.975426602754914, -0.99527819636967341, -0.97544054165861971],
    "trees": [4.1347753743760034],
}


def main(folder):
    for name, expected in EXPECTED.items():
        meta, arrays = read(os.path.join(folder, name + ".mercer"))
        kernel, rows, c = KERNELS[meta["kernel"]], centres(meta, arrays), int(meta["outputs"])
        for k in range(c):
            f = arrays["intercept"][k] + sum(arrays["alpha"][i * c + k] * kernel(row, rows[0]) for i, row in enumerate(rows))
            assert abs(f - expected[k]) < 1e-12, (name, k, f)
        if meta["layout"] == "sparse":
            assert json.loads(meta["labels"]) == ["no", "vielleicht", "yes"]
        print(f"{name}: read, summed and predicted")


main(sys.argv[1])
