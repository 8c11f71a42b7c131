"""keep.py: what a peer takes minutes or hours for is measured once and kept in a file, by a key that names the peer, its version, the rows and
the settings. With each figure stands the yardstick of its hour: the processor seconds of a fixed small fit by svm-train. Where it is larger
than now the machine was slower then, and the kept seconds are brought down by as much; where it is smaller they stay as they are. So a kept
figure is never to the peer's disadvantage. Delete the file to have the figure taken again (svm_peers.py: --anew)."""
import collections
import functools
import hashlib
import json
import math
import tempfile

import measure
import numpy as np

Kept = collections.namedtuple("Kept", "result fresh slower")  # slower: the machine then, in times of now; None: not recorded


@functools.cache
def yardstick():
    """Processor seconds of the fixed fit, the least of five."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 20))
    y = np.where(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + rng.normal(size=len(X)) > 0, 1, -1)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows", "w") as out:
            out.writelines(f"{label} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(row)) + "\n" for label, row in zip(y, X))
        return min(measure.take(["svm-train", "-q", "-c", 8, "-g", 0.0625, f"{folder}/rows", f"{folder}/model"]).cpu for _ in range(5))


def kept(place, key, work, run=True, anew=False):
    """work(), or what it gave for the same key before unless anew; run False: None where nothing is kept."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / (hashlib.sha256(json.dumps(key).encode()).hexdigest()[:24] + ".json")
    if path.exists() and not anew:
        found = json.loads(path.read_text())
        return Kept(found["result"], False, found["yardstick"] / yardstick() if "yardstick" in found else None)
    if not run:
        return None
    found = {"key": key, "result": work(), "yardstick": yardstick()}
    path.write_text(json.dumps(found))
    return Kept(found["result"], True, 1.0)


def seconds(kept, key=None):
    """The seconds of a figure, or those of its result under a key, as they would be now at most."""
    return (kept.result if key is None else kept.result[key]) / max(1.0, kept.slower or 1.0)


def summary(figures):
    """One sentence on the machine when the kept ones of some figures were taken; empty where all are fresh."""
    old = [f for f in figures if f and not f.fresh]
    known = [f.slower for f in old if f.slower]
    if not old:
        return ""
    span = " to ".join(sorted({f"{v:.2f}" for v in (min(known), max(known))})) if known else ""
    speed = f"the yardstick took {span} times what it takes now ({yardstick():.3f} s)" if known else ""
    unknown = f"of {len(old) - len(known)} the speed of the machine was not recorded" if len(known) < len(old) else ""
    return f"{len(old)} figure{'s' if len(old) > 1 else ''} of peers kept from earlier runs: " + "; ".join(t for t in (speed, unknown) if t) + "."


def extrapolated(sample, count):
    """(the sum of count values from a random sample of them, its standard error)"""
    k, mean = len(sample), sum(sample) / len(sample)
    spread = math.sqrt(sum((v - mean) ** 2 for v in sample) / max(1, k - 1))
    return count * mean, count * spread / math.sqrt(k) * math.sqrt(1 - k / count)
