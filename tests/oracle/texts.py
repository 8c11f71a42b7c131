"""Kernels of texts: words and tf-idf against scikit-learn, strings by brute force over pairs of places."""
import csv
import itertools
import math

import numpy as np
from oracle import close, mercer, path, rng, run
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import linear_kernel

SHORT = ["", "a", " ", "b a", "a", "aé", "éé é", "日本", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ab_1, ab_1; AB_1", "ab\nab \"ab\""]


def drawn(n, letters, longest):
    return ["".join(rng.choice(list(letters), size=rng.integers(0, longest))) for _ in range(n)]


TEXTS = SHORT + drawn(12, "ab é", 25) + drawn(6, "acgt", 40)
DOCUMENTS = SHORT + [" ".join(drawn(rng.integers(1, 60), "abc", 4)) for _ in range(40)]
NEW = SHORT + [" ".join(drawn(rng.integers(1, 60), "abcd", 4)) for _ in range(20)]


def write(name, texts, numbers=None):
    with open(path(name), "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["y", "text"])
        table.writerows(zip(np.zeros(len(texts)) if numbers is None else numbers, texts, strict=True))
    return path(name)


def gram(kernel, texts):
    mercer("gram", kernel, write("x.csv", texts), "--target", "y", "-o", path("K.npy"))
    return np.load(path("K.npy"))


def windows(text, p):
    encoded = text.encode()
    return [encoded[i:i + p] for i in range(len(encoded) - p + 1)]


def spectrum(x, z, p, m=0):
    differ = (sum(a != b for a, b in zip(u, v, strict=True)) for u in windows(x, p) for v in windows(z, p))
    return sum(math.comb(p - h, m - h) for h in differ if h <= m)


def places(text, p, span):
    """(bytes, reach) of every choice of p places within span."""
    encoded = text.encode()
    return [(bytes(encoded[i] for i in chosen), chosen[-1] - chosen[0] + 1) for first in range(len(encoded))
            for chosen in ((first, *rest) for rest in itertools.combinations(range(first + 1, min(len(encoded), first + span)), p - 1))]


def subsequence(x, z, p, decay, span):
    found = places(z, p, span)
    return sum(decay ** (a + b) for u, a in places(x, p, span) for v, b in found if u == v)


def weighted_degree(x, z, p):
    a, b = x.encode(), z.encode()
    return sum(2 * (p - l + 1) / (p * (p + 1)) for i in range(min(len(a), len(b))) for l in range(1, p + 1)
               if i + l <= min(len(a), len(b)) and a[i:i + l] == b[i:i + l])


BRUTE = {
    "spectrum(p=2)": lambda x, z: spectrum(x, z, 2),
    "spectrum(p=12)": lambda x, z: spectrum(x, z, 12),
    "spectrum(p=4, mismatches=2)": lambda x, z: spectrum(x, z, 4, 2),
    "spectrum(p=9, mismatches=1)": lambda x, z: spectrum(x, z, 9, 1),
    "blended(p=4, decay=0.3)": lambda x, z: sum(0.3**l * spectrum(x, z, l) for l in range(1, 5)),
    "subsequence(p=2, decay=0.7, span=4)": lambda x, z: subsequence(x, z, 2, 0.7, 4),
    "subsequence(p=3, decay=1, span=5)": lambda x, z: subsequence(x, z, 3, 1, 5),
    "weighted_degree(p=4)": lambda x, z: weighted_degree(x, z, 4),
}


def brute(kernel, value):
    def test():
        K = np.array([[value(x, z) for z in TEXTS] for x in TEXTS], dtype=float)
        close(gram(f"({kernel})[text]", TEXTS), K, 1e-13)
        d = np.sqrt(np.diag(K))
        close(gram(f"normalize({kernel})[text]", TEXTS), np.where(K > 0, K, 0) / np.where(d > 0, d, 1)[:, None] / np.where(d > 0, d, 1), 1e-13)
    return test


PLAIN = {"token_pattern": r"\w+", "lowercase": False}


def words():
    counts = CountVectorizer(**PLAIN).fit_transform(DOCUMENTS)
    close(gram("words[text]", DOCUMENTS), linear_kernel(counts), 0)


def tfidf(norm):
    def test():
        made = TfidfVectorizer(**PLAIN, norm="l2" if norm else None).fit_transform(DOCUMENTS)
        close(gram("normalize(tfidf)[text]" if norm else "tfidf[text]", DOCUMENTS), linear_kernel(made), 1e-14)
    return test


def tfidf_of_new_texts():
    """Weights are those of the fit, in the model file too: words that it did not have count nothing."""
    y = rng.normal(size=len(DOCUMENTS))
    for norm in ("l2", None):
        kernel = "tfidf[text]" if norm is None else "normalize(tfidf)[text] + 0.5*spectrum(p=1)[text]"
        maker = TfidfVectorizer(**PLAIN, norm=norm)
        counted = CountVectorizer(analyzer=lambda text: list(text.encode())).fit(DOCUMENTS + NEW)
        more = 0 if norm is None else 0.5
        train, new = maker.fit_transform(DOCUMENTS), maker.transform(NEW)
        a, b = counted.transform(DOCUMENTS), counted.transform(NEW)
        peer = KernelRidge(alpha=0.7, kernel="precomputed").fit(linear_kernel(train) + more * linear_kernel(a), y)
        mercer("fit", write("train.csv", DOCUMENTS, y), "--target", "y", "-m", "ridge", "--no-intercept", "--lambda", 0.7, "-k", kernel,
               "-o", path("m.mercer"))
        said = mercer("predict", path("m.mercer"), write("new.csv", NEW), "-q")
        close(np.array(said.split()[1:], dtype=float), peer.predict(linear_kernel(new, train) + more * linear_kernel(b, a)), 1e-9)


tests = {f"{k} equals the definition": brute(k, f) for k, f in BRUTE.items()}
tests["words equals CountVectorizer and linear_kernel"] = words
tests["tfidf equals TfidfVectorizer and linear_kernel"] = tfidf(False)
tests["normalize(tfidf) equals TfidfVectorizer with its norm"] = tfidf(True)
tests["tfidf weighs new texts as TfidfVectorizer's transform"] = tfidf_of_new_texts
run(tests)
