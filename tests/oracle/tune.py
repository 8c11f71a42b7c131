"""Searches against scikit-learn's cross-validation on the same folds."""
import csv

import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, PredefinedSplit, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

n, d = 110, 3
X = rng.normal(size=(n, d))
signal = np.sin(2 * X[:, 0]) + X[:, 1]
y = signal + 0.3 * rng.normal(size=n)
three = np.digitize(signal + 0.4 * rng.normal(size=n), [-0.7, 0.7])
two = (three > 0).astype(int)


def table(name, target):
    with open(path(name), "w") as out:
        out.write(",".join(f"c{j}" for j in range(d)) + ",y\n")
        for row, t in zip(X, target):
            out.write(",".join(repr(float(v)) for v in row) + f",{t!r}\n" if isinstance(t, float) else ",".join(repr(float(v)) for v in row) + f",{t}\n")
    return path(name)


def folds(data, k, kind):
    """The folds of seed 0 as the command deals them."""
    mercer("folds", data, "--folds", k, "--lambda", 1, "--target-kind", kind, "-o", path("left.csv"))
    return PredefinedSplit([int(row["fold"]) for row in csv.DictReader(open(path("left.csv")))])


def tune(data, *options):
    return mercer_json("tune", data, "--scale", "none", "-o", path("m.mercer"), *options)


def scores(report):
    return [c["score"] for c in report["candidates"]]


def support_vectors():
    data = table("three.csv", three)
    split = folds(data, 4, "class")
    report = tune(data, "-m", "svc", "-k", "rbf(gamma={0.1,1})", "--C", "{0.5,5}", "--folds", 4, "--tolerance", "1e-6")
    search = GridSearchCV(SVC(tol=1e-6), {"gamma": [0.1, 1], "C": [0.5, 5]}, cv=split, scoring="accuracy").fit(X, three)
    theirs = {(p["gamma"], p["C"]): s for p, s in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"])}
    close(scores(report), [theirs[0.1, 0.5], theirs[0.1, 5], theirs[1, 0.5], theirs[1, 5]], 1e-9)
    best = report["candidates"][report["best"]]
    assert abs(best["score"] - search.best_score_) < 1e-12
    parts = cross_val_score(SVC(gamma=1, C=5, tol=1e-6), X, three, cv=split)
    close(report["candidates"][3]["parts"], parts, 1e-9)
    close(report["candidates"][3]["standard_error"], parts.std(ddof=1) / 2, 1e-9)


def f1_and_auc():
    data = table("two.csv", two)
    split = folds(data, 5, "class")
    for ours, theirs in (("f1", "f1"), ("auc", "roc_auc"), ("balanced-accuracy", "balanced_accuracy")):
        report = tune(data, "-m", "svc", "-k", "rbf(gamma={0.2,2})", "--C", 3, "--tolerance", "1e-6", "--score", ours)
        close(scores(report), [cross_val_score(SVC(gamma=g, C=3, tol=1e-6), X, two, cv=split, scoring=theirs).mean() for g in (0.2, 2)], 1e-6)
    report = tune(table("three.csv", three), "-m", "knn", "-k", "linear", "--neighbors", "{3,7}", "--score", "f1")
    split = folds(table("three.csv", three), 5, "class")
    close(scores(report), [cross_val_score(KNeighborsClassifier(k), X, three, cv=split, scoring="f1_macro").mean() for k in (3, 7)], 1e-9)


def log_loss():
    data = table("two.csv", two)
    split = folds(data, 5, "class")
    report = tune(data, "-m", "logistic", "-k", "linear", "--lambda", "{0.1,2}", "--tolerance", "1e-12")
    theirs = [-cross_val_score(LogisticRegression(C=1 / lam, tol=1e-10, max_iter=1000), X, two, cv=split, scoring="neg_log_loss").mean()
              for lam in (0.1, 2)]
    close(scores(report), theirs, 1e-5)


def ridge_left_out_and_in_folds():
    data = table("y.csv", [float(v) for v in y])
    report = tune(data, "--no-intercept", "-k", "rbf(gamma={0.1,1})", "--lambda", 0.1, "--score", "mae")
    theirs = [np.mean([abs(y[i] - KernelRidge(kernel="rbf", gamma=g, alpha=0.1).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i:i + 1])[0])
                       for i in range(n)]) for g in (0.1, 1)]
    close(scores(report), theirs, 1e-9)
    split = folds(data, 5, "number")
    for ours, name, sign in (("r2", "r2", 1), ("rmse", "neg_root_mean_squared_error", -1)):
        report = tune(data, "--no-intercept", "-k", "rbf(gamma={0.1,1})", "--lambda", "{0.1,1}", "--folds", 5, "--score", ours)
        theirs = [sign * cross_val_score(KernelRidge(kernel="rbf", gamma=g, alpha=a), X, y, cv=split, scoring=name).mean()
                  for g in (0.1, 1) for a in (0.1, 1)]
        close(scores(report), theirs, 1e-8)


def order_of_time():
    data = table("y.csv", [float(v) for v in y])
    report = tune(data, "--no-intercept", "-k", "rbf(gamma={0.1,1})", "--lambda", "{0.1,1}", "--ordered", "--folds", 4, "--score", "mae")
    theirs = [-cross_val_score(KernelRidge(kernel="rbf", gamma=g, alpha=a), X, y, cv=TimeSeriesSplit(4), scoring="neg_mean_absolute_error").mean()
              for g in (0.1, 1) for a in (0.1, 1)]
    close(scores(report), theirs, 1e-8)


def single_scores():
    data = table("y.csv", [float(v) for v in y])
    mercer("fit", data, "-m", "quantile", "--tau", 0.8, "--lambda", 1, "-k", "rbf(gamma=0.3)", "-o", path("q.mercer"), "-q")
    mercer("predict", path("q.mercer"), data, "-o", path("p.csv"))
    f = np.array([float(row["prediction"]) for row in csv.DictReader(open(path("p.csv")))])
    close(mercer_json("score", path("q.mercer"), data)["pinball"], mean_pinball_loss(y, f, alpha=0.8), 1e-12)
    data = table("three.csv", three)
    mercer("fit", data, "-m", "svc", "--C", 0.2, "-k", "rbf(gamma=0.3)", "-o", path("c.mercer"), "-q")
    mercer("predict", path("c.mercer"), data, "-o", path("p.csv"))
    g = np.array([int(row["prediction"]) for row in csv.DictReader(open(path("p.csv")))])
    close(mercer_json("score", path("c.mercer"), data)["f1"], f1_score(three, g, average="macro"), 1e-12)


run({"support vectors by grid search": support_vectors, "f1, auc and balanced accuracy": f1_and_auc, "log loss": log_loss,
     "ridge, rows left out and folds": ridge_left_out_and_in_folds, "rows in order of time": order_of_time,
     "f1 and pinball of one model": single_scores})
