#!/usr/bin/python3
"""text_peers.py [MERCER] [--rows 12500] [--seed S] [--repeats 3] [--kernels]: short texts, beside n-grams of characters in scikit-learn.

Two tables of machines. Two sets, each cut at random into four fifths to learn from and a fifth to judge by: made messages of two classes, whose words are drawn with
different odds and mistyped now and then (the seed is drawn anew at each run and printed), and the messages of mail and spam in
MERCER_DATA/string/sms_spam.tsv.gz, where that is there.

For each the machine as it comes (Mercer: `fit` without a kernel, which searches the length of the n-grams and C; scikit-learn: a grid over
the same lengths and three C, five folds, both cores), and one fit at n-grams of four characters and C = 1 on both sides. A command's seconds are
those of the whole command, reading included; scikit-learn's begin with the texts in memory. Accuracy beside the mean of the classes' own
(balanced), since spam is rare.

Then every kernel of texts (alone with --kernels): one fit of svc at C = 1 on made messages, and on made sequences of 100 to 500 letters
over 4 letters and over 20, half of whose classes' motifs stand at places of their own. The peer has the same features and counts, made by
CountVectorizer (through an analyzer in Python where it has none of its own), normalised, under LinearSVC with the hinge loss; subsequence
has no peer."""
import argparse
import csv
import gzip
import itertools
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


# ---- Every kernel ----

MOTIFS, MOTIF, KEPT = 6, 8, 0.85  # motifs of a class; letters of one; share of these that are as they should be


def made_sequences(n, letters, seed):
    """(label, text): motifs of the class in noise, the first half of them at fixed places."""
    rng = random.Random(seed)
    motifs = [["".join(rng.choice(letters) for _ in range(MOTIF)) for _ in range(MOTIFS)] for _ in range(2)]

    def sequence(kind):
        text = [rng.choice(letters) for _ in range(rng.randint(100, 500))]
        for k, motif in enumerate(motifs[kind]):
            at = 10 + 13 * k if 2 * k < MOTIFS else rng.randrange(len(text) - MOTIF)
            for i, letter in enumerate(motif):
                text[at + i] = letter if rng.random() < KEPT else text[at + i]
        return "".join(text)

    return [(("no", "yes")[kind], sequence(kind)) for kind in (rng.randrange(2) for _ in range(n))]


class Weighted(CountVectorizer):
    """Counts times the weight that `weigh` gives a feature."""

    weigh = staticmethod(lambda feature: 1.0)

    def scaled(self, counts):
        return counts.astype(float).multiply([self.weigh(f) for f in self.get_feature_names_out()]).tocsr()

    def fit_transform(self, raw_documents, y=None):
        return self.scaled(super().fit_transform(raw_documents, y))

    def transform(self, raw_documents):
        return self.scaled(super().transform(raw_documents))


def lengths_weighed(p, decay):
    made = Weighted(analyzer="char", ngram_range=(1, p), lowercase=False)
    made.weigh = lambda feature: decay ** (len(feature) / 2)
    return made


def placed(p):
    def analyzer(text):
        return [f"{i}:{text[i:i + l]}" for i in range(len(text)) for l in range(1, p + 1) if i + l <= len(text)]

    made = Weighted(analyzer=analyzer)
    made.weigh = lambda feature: (2 * (p + 1 - (len(feature) - feature.index(":") - 1)) / (p * (p + 1))) ** 0.5
    return made


def gapped(p, mismatches):
    choices = list(itertools.combinations(range(p), p - mismatches))

    def analyzer(text):
        return [f"{k}:" + "".join(text[i + c] for c in choice) for i in range(len(text) - p + 1) for k, choice in enumerate(choices)]

    return CountVectorizer(analyzer=analyzer)


def grams(p):
    return CountVectorizer(analyzer="char", ngram_range=(p, p), lowercase=False)


KERNELS = [("messages", "words", lambda: CountVectorizer(token_pattern=r"\w+", lowercase=False)), ("messages", "spectrum(p=4)", lambda: grams(4)),
           ("messages", "blended(p=4, decay=0.5)", lambda: lengths_weighed(4, 0.5)),
           ("messages", "subsequence(p=3, decay=0.5, span=6)", None), ("4 letters", "spectrum(p=6)", lambda: grams(6)),
           ("4 letters", "spectrum(p=6, mismatches=1)", lambda: gapped(6, 1)), ("4 letters", "subsequence(p=3, decay=0.5, span=6)", None),
           ("4 letters", "weighted_degree(p=4)", lambda: placed(4)), ("20 letters", "spectrum(p=3)", lambda: grams(3)),
           ("20 letters", "spectrum(p=4, mismatches=1)", lambda: gapped(4, 1)), ("20 letters", "subsequence(p=3, decay=0.5, span=6)", None),
           ("20 letters", "weighted_degree(p=4)", lambda: placed(4))]


def row_of_kernel(said, folder, name, kernel, peer, rows):
    train, test = rows[:len(rows) * 4 // 5], rows[len(rows) * 4 // 5:]
    write(folder / "train.csv", train)
    write(folder / "test.csv", test)
    inside = f"normalize({kernel})[text]" if "blended" not in kernel else f"normalize({kernel}[text])"
    ours = [run_mercer(said.mercer, folder, ["-m", "svc", "-k", inside, "--C", "1"], test) for _ in range(said.repeats)]
    words = ["", ""]
    if peer:
        theirs = run_peer(lambda: make_pipeline(peer(), Normalizer(), LinearSVC(C=1, loss="hinge", dual=True, max_iter=10000)), train, test)
        words = [f"{theirs[0]:.2f}", f"{100 * theirs[2][0]:.2f}"]
    seconds = statistics.median(r[0] for r in ours)
    print(f"| {name} | {kernel} | {seconds:.2f} | {ours[-1][1]} | {100 * ours[-1][2][0]:.2f} | {words[0]} | {words[1]} |", flush=True)


def every_kernel(said):
    sets = {"messages": made_messages(said.rows, said.seed), "4 letters": made_sequences(said.rows, "acgt", said.seed),
            "20 letters": made_sequences(said.rows, "acdefghiklmnpqrstvwy", said.seed)}
    print(f"\nEvery kernel, normalised, svc, C=1: {said.rows * 4 // 5} texts to learn from, {said.rows // 5} to judge by, seed {said.seed}\n")
    print("| texts | kernel | fit, s | peak, MiB | accuracy, % | scikit-learn, s | accuracy, % |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for which, kernel, peer in [row for row in KERNELS if said.only in f"{row[0]} {row[1]}"]:
            row_of_kernel(said, pathlib.Path(name), which, kernel, peer, sets[which])


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
    words.add_argument("--kernels", action="store_true", help="the table of every kernel alone")
    words.add_argument("--only", default="", help="of that table the rows whose texts and kernel have this in them")
    said = words.parse_args()
    if said.no_grid:
        PEERS[:] = PEERS[:1]
    every_kernel(said)
    if said.kernels:
        return
    compare("Made messages", made_messages(said.rows, said.seed), said)
    real = real_messages()
    if real is None:
        print("\n# SKIPPED: MERCER_DATA/string/sms_spam.tsv.gz is not there")
    else:
        compare("Mail and spam", real, said)


if __name__ == "__main__":
    sys.exit(main())
