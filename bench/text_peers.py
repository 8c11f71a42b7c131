#!/usr/bin/python3
"""text_peers.py [MERCER] [--rows 10000] [--seed S] [--repeats 3]: short texts, beside n-grams of characters in scikit-learn.

Two sets, each cut at random into four fifths to learn from and a fifth to judge by: made messages of two classes, whose words are drawn with
different odds and mistyped now and then (the seed is drawn anew at each run and printed), and the messages of mail and spam in
MERCER_DATA/string/sms_spam.tsv.gz, where that is there.

For each the machine as it comes (Mercer: `fit` without a kernel, which searches the length of the n-grams and C; scikit-learn: a grid over
the same lengths and three C, five folds, both cores), and one fit at n-grams of four characters and C = 1 on both sides. A command's seconds are
those of the whole command, reading included; scikit-learn's begin with the texts in memory. Accuracy beside the mean of the classes' own
(balanced), since spam is rare."""
import argparse
import csv
import gzip
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402

VOCABULARY, WORDS, COMMON, SLIP = 2000, (4, 20), 0.8, 0.02  # words; in a message; share of words that say nothing; share of wrong letters
LENGTHS, COSTS = (2, 3, 4, 5), (0.1, 1, 10)


def made_messages(n, seed):
    """(label, text): each class favours half of the words in a fifth of the places."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choice(letters) for _ in range(rng.randint(2, 9))) for _ in range(VOCABULARY)]

    def message(kind):
        count = rng.randint(*WORDS)
        half = lambda: words[2 * rng.randrange(VOCABULARY // 2) + kind]  # noqa: E731
        text = " ".join(rng.choice(words) if rng.random() < COMMON else half() for _ in range(count))
        return "".join(rng.choice(letters) if c != " " and rng.random() < SLIP else c for c in text)

    return [(("no", "yes")[kind], message(kind)) for kind in (rng.randrange(2) for _ in range(n))]


def real_messages():
    path = measure.DATA / "string" / "sms_spam.tsv.gz"
    if not path.is_file():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in file if "\t" in line]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["kind", "text"])
        table.writerows(rows)


def accuracies(right, truth):
    """(share of rows, mean over the classes of the share of theirs)"""
    right, truth = np.asarray(right), np.asarray(truth)
    return right.mean(), np.mean([right[truth == label].mean() for label in np.unique(truth)])


def run_mercer(program, folder, words, test):
    """Seconds of the fit, MiB at its peak, and the accuracies of what it predicts."""
    model = str(folder / "text.mercer")
    taken = measure.take([program, "fit", folder / "train.csv", "--target", "kind", "-o", model, "-q", *words])
    said = measure.take([program, "predict", model, folder / "test.csv", "-q"]).out.split()
    truth = [label for label, _ in test]
    return taken.seconds, f"{taken.bytes / 2**20:.0f}", accuracies([a == b for a, b in zip(said[-len(truth):], truth, strict=True)], truth)


def counted(p=4):
    return make_pipeline(CountVectorizer(analyzer="char", ngram_range=(p, p), lowercase=False), Normalizer(), LinearSVC(C=1, dual=True, max_iter=10000))


def searched(last, prefix):
    pipe = make_pipeline(TfidfVectorizer(analyzer="char", lowercase=False, use_idf=False), last)
    return GridSearchCV(pipe, {"tfidfvectorizer__ngram_range": [(p, p) for p in LENGTHS], f"{prefix}__C": COSTS}, cv=5, n_jobs=-1)


PEERS = [("LinearSVC, 4-grams, C=1", counted), ("LinearSVC, grid", lambda: searched(LinearSVC(dual=True, max_iter=10000), "linearsvc")),
         ("LogisticRegression, grid", lambda: searched(LogisticRegression(max_iter=1000), "logisticregression"))]
OURS = [("mercer svc, 4-grams, C=1", ["-m", "svc", "-k", "normalize(spectrum(p=4)[text])", "--C", "1"]), ("mercer fit, as it comes", [])]


def run_peer(make, train, test):
    began = time.perf_counter()
    machine = make().fit([t for _, t in train], [k for k, _ in train])
    seconds = time.perf_counter() - began
    truth = [label for label, _ in test]
    return seconds, "", accuracies(machine.predict([t for _, t in test]) == np.asarray(truth), truth)


def show(name, results):
    seconds, memory, (plain, balanced) = statistics.median(r[0] for r in results), *results[-1][1:]
    print(f"| {name} | {seconds:.2f} | {memory} | {100 * plain:.2f} | {100 * balanced:.2f} |", flush=True)


def compare(title, rows, said):
    random.Random(said.seed).shuffle(rows)
    train, test = rows[:len(rows) * 4 // 5], rows[len(rows) * 4 // 5:]
    print(f"\n{title}: {len(train)} texts to learn from, {len(test)} to judge by, seed {said.seed}\n")
    print("| machine | fit, s | peak, MiB | accuracy, % | balanced, % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder / "train.csv", train)
        write(folder / "test.csv", test)
        for what, words in OURS:
            show(what, [run_mercer(said.mercer, folder, words, test) for _ in range(said.repeats)])
    for what, make in PEERS:
        show(f"scikit-learn {what}", [run_peer(make, train, test) for _ in range(1 if "grid" in what else said.repeats)])


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default="build/mercer")
    words.add_argument("--rows", type=int, default=12500, help="made messages; a fifth judges")
    words.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    words.add_argument("--repeats", type=int, default=3)
    words.add_argument("--no-grid", action="store_true", help="without the grids of scikit-learn, which take a minute")
    said = words.parse_args()
    if said.no_grid:
        PEERS[:] = PEERS[:1]
    compare("Made messages", made_messages(said.rows, said.seed), said)
    real = real_messages()
    if real is None:
        print("\n# SKIPPED: MERCER_DATA/string/sms_spam.tsv.gz is not there")
    else:
        compare("Mail and spam", real, said)


if __name__ == "__main__":
    sys.exit(main())
