"""Two-sample and independence tests and clusters against NumPy's formulas and scikit-learn's clusterings."""
import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run, save
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

threadpool_limits(1)  # threads of theirs that wait for each other on a busy machine take longer than the work


def gaussian(A, B, sigma):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * sigma**2))


def mmd():
    X, Z = rng.normal(size=(60, 3)), rng.normal(size=(45, 3)) * 1.3 + 0.2
    report = mercer_json("test", "mmd", save("x.npy", X), save("z.npy", Z), "--no-target", "-k", "rbf(sigma=1.5)", "--permutations", 400)
    K = gaussian(np.r_[X, Z], np.r_[X, Z], 1.5)

    def statistic(order):
        s = np.where(order < 60, 1 / 60, -1 / 45)
        return s @ K @ s

    close(report["statistic"], statistic(np.arange(105)), 1e-12)
    null = np.array([statistic(rng.permutation(105)) for _ in range(2000)])
    assert abs(report["null_mean"] - null.mean()) < 6 * null.std() / np.sqrt(400), (report, null.mean())
    assert abs(report["p_value"] - (null >= statistic(np.arange(105))).mean()) < 0.1


def hsic():
    X = rng.normal(size=(70, 2))
    Y = X[:, :1] ** 2 + 0.3 * rng.normal(size=(70, 1))
    report = mercer_json("test", "hsic", save("x.npy", np.c_[X, Y]), "--no-target", "-k", "rbf(sigma=1)", "--x", "1:2", "--y", "3",
                         "--permutations", 200)
    H = np.eye(70) - 1 / 70
    close(report["statistic"], np.trace(gaussian(X, X, 1) @ H @ gaussian(Y, Y, 1) @ H) / 70**2, 1e-11)
    assert report["p_value"] <= 0.02


def groups(*args):
    mercer("cluster", *args, "-o", path("g.csv"), "-q")
    return np.loadtxt(path("g.csv"), skiprows=1)


def kmeans():
    X = np.concatenate([rng.normal(size=(50, 2)) + c for c in ((0, 0), (9, 0), (0, 9))])
    report = mercer_json("cluster", save("x.npy", X), "--no-target", "-k", "linear", "-c", 3)
    theirs = KMeans(3, n_init=10, random_state=0).fit(X)
    close(report["objective"], theirs.inertia_, 1e-9)
    assert adjusted_rand_score(theirs.labels_, groups(path("x.npy"), "--no-target", "-k", "linear", "-c", 3)) == 1


def spectral():
    angle = np.tile(np.arange(80), 3) * np.pi / 40 + 0.02 * rng.normal(size=240)
    radius = np.repeat([1.0, 3.0, 5.0], 80) + 0.1 * rng.normal(size=240)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    options = (save("x.npy", X), "--no-target", "--method", "spectral", "-k", "rbf(sigma=0.5)", "-c", 3)
    A = gaussian(X, X, 0.5)
    theirs = SpectralClustering(3, affinity="precomputed", random_state=0, assign_labels="cluster_qr").fit_predict(A)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 80), theirs) == 1
    assert adjusted_rand_score(theirs, groups(*options)) == 1
    np.fill_diagonal(A, 0)
    root = 1 / np.sqrt(A.sum(1))
    values = np.linalg.eigvalsh(np.eye(240) - root[:, None] * A * root)[:3]
    assert np.abs(np.array(mercer_json("cluster", *options)["eigenvalues"]) - values).max() < 1e-12


run({
    "mmd is NumPy's formula, and its exchanges have the moments of other exchanges": mmd,
    "hsic is NumPy's formula": hsic,
    "k-means reaches scikit-learn's inertia and groups": kmeans,
    "spectral clusters are scikit-learn's, eigenvalues NumPy's": spectral,
})
