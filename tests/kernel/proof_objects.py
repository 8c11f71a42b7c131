#!/usr/bin/env python3
"""proof_objects.py MERCER WRITE_PROOFS CHECKER: every proof that mercer prove -o writes holds for tools/check_proof.py, which shares no code with
Mercer: of all expressions of docs/known_kernels.md and tests/kernel/expressions.txt, and of random ones. And every proof with a number, a rule, a
premise, a point or a weight changed is refused."""
import copy
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

command, write_proofs, checker_file = sys.argv[1:]
spec = importlib.util.spec_from_file_location("check_proof", checker_file)
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)
ROOT = pathlib.Path(checker_file).resolve().parent.parent
seed = int(os.environ.get("MERCER_TEST_SEED") or 20261118)
count = int(os.environ.get("MERCER_TEST_ROUNDS") or 160) // 4
draw = random.Random(seed)
share = 1 if os.environ.get("MERCER_TEST_SPOILT") == "all" else 1 / 3  # of the proofs, of which spoilt ones are made
print(f"# seed {seed} (set MERCER_TEST_SEED to repeat another)")


def expressions():
    for line in (ROOT / "docs/known_kernels.md").read_text().splitlines():
        row = re.match(r"\| `(.*)` \| (\d*) ?\| (?:yes|no) \|", line)
        if row:
            yield row[1], row[2] or "0"
    for line in (ROOT / "tests/kernel/expressions.txt").read_text().splitlines():
        text = line.split(" # expect:")[0].strip()
        if text and not text.startswith("#") and "# expect: error" not in line:
            yield text, "0"


def written():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "proof.json")
        for text, d in expressions():
            path.unlink(missing_ok=True)
            subprocess.run([command, "prove", text, "-q", "-o", str(path), *(["-d", d] if d != "0" else [])], capture_output=True)
            if path.exists():
                yield path.read_text()
    run = subprocess.run([write_proofs, str(count), str(seed)], check=True, capture_output=True, text=True)
    yield from run.stdout.split("\0")[:-1]


def verdict(text):
    """What the checker says: 'holds', 'nothing' or why not."""
    try:
        checker.check(text)
        return "holds"
    except checker.Undecided as why:
        return f"nothing: {why}"
    except checker.Refused as why:
        return f"refused: {why}"
    except Exception as why:
        return f"refused: {type(why).__name__}: {why}"


# ---- proofs that are spoilt

def numbers_in(tree, path=()):
    """Where numbers stand that say something: not the place of a parameter, nor 0, which some rules do not look at."""
    if isinstance(tree, dict):
        for k, v in tree.items():
            if k not in ("columns", "premises", "parameter", "states", "rule", "id"):
                yield from numbers_in(v, path + (k,))
    elif isinstance(tree, list):
        for i, v in enumerate(tree):
            yield from numbers_in(v, path + (i,))
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool) and tree != 0:
        yield path


def change_at(tree, path, change):
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = change(tree[path[-1]])


def spoil_number(data):
    places = list(numbers_in([s["term"] for s in data["steps"]]))
    if not places:
        return False
    place = draw.choice(places)
    change_at(data["steps"][place[0]]["term"], place[1:], lambda v: 2 * v + 5 if v > 0 else 2 * v - 5) if len(place) > 1 else None
    return len(place) > 1


def spoil_rule(data):
    step = draw.choice(data["steps"])
    others = sorted({s for s, (states, _) in checker.RULES.items()} - {step["rule"]} - SAME.get(step["rule"], set()))
    step["rule"] = draw.choice(others)
    return True


def spoil_premises(data):
    steps = [s for s in data["steps"] if s["premises"]]
    if not steps:
        return False
    step = draw.choice(steps)
    step["premises"].pop(draw.randrange(len(step["premises"])))
    return True


def spoil_step(data):
    if len(data["steps"]) < 2:
        return False
    data["steps"].pop(draw.randrange(len(data["steps"])))
    return True


def spoil_goal(data):
    data["expression"] = {"op": "product", "of": [-1, data["expression"]]}
    return True


def spoil_circle(data):
    step = draw.choice(data["steps"])
    step["premises"].append(data["steps"].index(step) + 1)
    return True


def spoil_weight(data):
    data["witness"]["weights"] = [3 * w for w in data["witness"]["weights"]]
    return True


def spoil_texts(data):
    for column in data["witness"].get("texts", {}).values():
        column[0] += " one other"
    return "texts" in data["witness"]


def spoil_value(data):
    data["witness"]["value"] *= draw.choice([2, -1])
    return True


def spoil_bound(data):
    data["witness"]["bound"] = 2 * abs(data["witness"]["value"])
    return True


def spoil_coefficient_value(data):
    data["coefficient"]["value"] *= draw.choice([2, 0.5, -1])
    return True


def spoil_coefficient_order(data):
    data["coefficient"]["order"] += 1
    return True


def spoil_frequency_value(data):
    data["frequency"]["value"] *= draw.choice([2, 0.5, -1])
    return True


def spoil_frequency_columns(data):
    data["frequency"]["columns"] += 1
    data["frequency"]["at"].append(0)
    return data["columns"] == 0 and not data["frequency"]["mean"]


# Rules that may hold in place of each other: they look at the term, not at how it was found.
SPOIL_STEPS = (spoil_number, spoil_rule, spoil_premises, spoil_step, spoil_goal, spoil_circle)
SPOIL_COEFFICIENT = (spoil_coefficient_value, spoil_coefficient_order)
SPOIL_FREQUENCY = (spoil_frequency_value, spoil_frequency_columns)
SPOIL_WITNESS = (spoil_weight, spoil_texts, spoil_value, spoil_bound)
BROAD = {"outweighed", "taylor", "conditioned", "collect", "unfold", "series", "unfold_series", "gaussians", "spectra", "column_forms", "sphere"}
SAME = {name: BROAD for name in ("sum", "product", "power", "exp", "weigh", "normalize", "columns", "poly", "common_view", "constant", "inverse", "tanh", *BROAD)}
SAME["exp"] = BROAD | {"exp_shift"}
SAME["power_series"] = {"outweighed"}


def spoilt(text):
    data = json.loads(text)
    for way in draw.sample(SPOIL_STEPS, 3) if "steps" in data else SPOIL_WITNESS if "witness" in data else SPOIL_FREQUENCY if "frequency" in data else SPOIL_COEFFICIENT if "coefficient" in data else ():
        changed = copy.deepcopy(data)
        if way(changed):
            yield way.__name__, json.dumps(changed)


# ---- objects that are none: whatever stands where, they are refused with a sentence, and the files after them are read

INFINITY, NAN = float("inf"), float("nan")
NO_PLACES, NO_NUMBERS = (0, -1, 0.5, 1.0, 1e300, True, "1", None, INFINITY, NAN), (True, "1", None, INFINITY, NAN, {}, [])
MALFORMED = (  # expression, columns, where, what does not belong there
    ("exp(linear) - 1 - linear", "0", ("columns",), (2.5, "2", *NO_PLACES[1:])),
    ("exp(linear) - 1 - linear", "0", ("steps", 1, "columns"), NO_PLACES[1:]),
    ("exp(linear) - 1 - linear", "0", ("steps", 1, "premises", 0), NO_PLACES),
    ("exp(linear) - 1 - linear", "0", ("steps", 1, "premises"), (1, "1", None, {})),
    ("exp(linear) - 1 - linear", "0", ("steps", 1, "extra"), (1,)),
    ("exp(linear) - 1 - linear", "0", ("steps",), ([], {}, None)),
    ("exp(linear) - 1 - linear", "0", ("expression", "of"), ({}, "linear", [])),
    ("brownian(hurst=0.3)", "0", ("steps", 0, "term", "hurst"), ([0.3], *NO_NUMBERS)),
    ("poly(degree=3, c=1)", "0", ("steps", 0, "term", "c"), ([1], *NO_NUMBERS)),
    ("arccos(order=1)", "0", ("steps", 0, "term", "order"), ([1], 0.5, *NO_NUMBERS)),
    ("weigh(x[1], linear)", "2", ("expression", "function", "column"), NO_PLACES),
    ("rbf(gamma=1)[1]", "2", ("expression", "columns", 0), (0, -1, 0.5, 1.0, True, None, NAN)),
    ("linear - 1", "1", ("witness", "points"), ([[INFINITY]], [[NAN]], [["0"]], [[True]], [0], [])),
    ("linear - 1", "1", ("witness", "weights"), ([INFINITY], ["1"], [True], [[1]], 1)),
    ("linear - 1", "1", ("witness", "bound"), (-1, *NO_NUMBERS)),
    ("linear - 1", "1", ("witness", "value"), NO_NUMBERS),
    ("exp(linear) - linear^10/3628799", "0", ("coefficient", "order"), NO_PLACES[1:]),
    ("exp(linear) - linear^10/3628799", "0", ("coefficient", "series"), ("spheres ", 1, None)),
    ("rbf(gamma=1) - 0.1*rbf(gamma=0.5)", "7", ("frequency", "at", 0), NO_NUMBERS),
    ("rbf(gamma=1) - 0.1*rbf(gamma=0.5)", "7", ("frequency", "mean"), (0, 1, "true", None)),
)


def proof_of(text, d, folder):
    path = pathlib.Path(folder, "proof.json")
    subprocess.run([command, "prove", text, "-q", "-o", str(path), *(["-d", d] if d != "0" else [])], capture_output=True)
    return path.read_text()


def put_at(tree, path, value):
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = value


def malformed(folder):
    for text, d, path, values in MALFORMED:
        whole = proof_of(text, d, folder)
        if verdict(whole) != "holds":
            yield f"{text}: {verdict(whole)}", None
        for value in values:
            data = json.loads(whole)
            put_at(data, path, value)
            yield f"{text} with {value!r} at {path}", json.dumps(data)
    yield "a thing said twice", whole.replace("{", '{"columns":0,', 1)
    yield "a number without end", re.sub(r'"value":', '"value":1e999,"was":', whole)
    yield "nested without end", "[" * 100000
    yield "a list", "[]"
    yield "nothing", ""


def refusals():
    """How many were not refused, each in a file of its own with a sound proof after it."""
    with tempfile.TemporaryDirectory() as folder:
        sound = pathlib.Path(folder, "sound.json")
        sound.write_text(proof_of("linear", "0", folder))
        files = []
        for what, text in malformed(folder):
            files.append((what, pathlib.Path(folder, f"{len(files)}.json")))
            files[-1][1].write_text(text if text is not None else sound.read_text())
        names = [str(f) for _, file in files for f in (file, sound)] + [str(pathlib.Path(folder, "missing.json")), str(sound)]
        run = subprocess.run([sys.executable, checker_file, *names], capture_output=True, text=True)
    says = run.stdout.splitlines()
    wrong = [what for (what, file), line in zip(files, says[::2]) if not line.startswith(f"{file}: REFUSED: ")]
    wrong += [line for line in says[1::2] if not line.endswith("steps hold")]
    wrong += [f"{len(says)} answers to {len(names)} files: {run.stderr}"] * (len(says) != len(names) or run.returncode != 1)
    for what in wrong:
        print(f"# not refused: {what}")
    print(f"# {len(files) - len(wrong)} malformed ones are refused")
    return len(wrong)


def main():
    held = refused = nothing = failures = 0
    for text in written():
        found = verdict(text)
        held, nothing = held + (found == "holds"), nothing + found.startswith("nothing")
        if found.startswith("refused"):
            print(f"# {json.loads(text)['text']} on {json.loads(text)['columns']} columns: {found}")
            failures += 1
            continue
        for way, changed in spoilt(text) if found == "holds" and draw.random() < share else ():
            says = verdict(changed)
            refused += says.startswith("refused")
            if says == "holds":
                print(f"# {way} was not noticed: {changed}")
                failures += 1
    print(f"# {held} proofs hold, {nothing} claim nothing, {refused} spoilt ones are refused")
    failures += (held < 300) + (refused < 1000 * share) + refusals()
    print("1..1\n" + ("ok 1" if not failures else "not ok 1") + " - every proof holds, every spoilt one is refused")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
