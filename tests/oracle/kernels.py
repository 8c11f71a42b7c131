"""Every kernel of the language against scikit-learn's or a formula in NumPy, on the same rows."""
import itertools

import numpy as np
from oracle import close, gram, rng, run
from scipy import special
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise as pw

X, Z = rng.normal(size=(57, 5)), rng.normal(size=(33, 5))
P, Q = np.abs(X), np.abs(Z)  # for kernels on non-negative vectors
A = np.array([[2.0, 1, 0, 0, 0], [1, 2, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 3, 1], [0, 0, 0, 1, 1]])


def angle_of(x, z):
    """By half angles: the arc cosine loses half of the digits near 0 and pi."""
    u, v = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (x, z))
    return 2 * np.arctan2(np.linalg.norm(u[:, None] - v[None], axis=-1), np.linalg.norm(u[:, None] + v[None], axis=-1))


def arccos0(x, z):
    return 1 - angle_of(x, z) / np.pi


def arccos1(x, z):
    angle = angle_of(x, z)
    norms = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1))
    return norms * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi


def periodic(x, z):
    d = x[:, None, :] - z[None, :, :]
    return np.exp(-2 * (np.sin(np.pi * d / 3) ** 2).sum(-1) / 0.7**2)


def distance(x, z):
    return np.linalg.norm(x[:, None] - z[None], axis=-1)


def tanimoto(x, z):
    most = np.maximum(x[:, None], z[None]).sum(-1)
    return np.where(most == 0, 1, np.minimum(x[:, None], z[None]).sum(-1) / np.where(most == 0, 1, most))


def matern_03(x, z):
    """scikit-learn moves equal points apart by an epsilon, whose root is seen where nu is small."""
    s = np.sqrt(0.6) * distance(x, z) / 1.3
    return np.where(s == 0, 1, 2**0.7 / special.gamma(0.3) * np.where(s == 0, 1, s) ** 0.3 * special.kv(0.3, np.where(s == 0, 1, s)))


def spline(x, z):
    """One column at a time: 1 + xz + the integral of (x - t)(z - t) from 0 to the smaller of the two."""
    a, b = x[:, None], z[None]
    m = np.minimum(a, b)
    return (1 + a * b + a * b * m - (a + b) / 2 * m**2 + m**3 / 3).prod(-1)


def gibbs(x, z):
    f, g = (1 + x[:, 0] ** 2)[:, None], (1 + z[:, 0] ** 2)[None]
    return (2 * f * g / (f**2 + g**2)) ** 2.5 * np.exp(-distance(x, z) ** 2 / (f**2 + g**2))


def anova(x, z, order):
    """Every set of so many columns, by brute force."""
    each = np.exp(-0.4 * (x[:, None] - z[None]) ** 2)
    return sum(each[..., list(chosen)].prod(-1) for chosen in itertools.combinations(range(x.shape[1]), order))


CASES = {
    "linear": (X, Z, lambda x, z: x @ z.T),
    "poly(degree=3, c=0.5, gamma=0.25)": (X, Z, lambda x, z: pw.polynomial_kernel(x, z, 3, 0.25, 0.5)),
    "rbf(gamma=0.37)": (X, Z, lambda x, z: pw.rbf_kernel(x, z, 0.37)),
    "rbf(sigma=1.5)": (X, Z, gp.RBF(1.5)),
    "rbf(gamma=[0.1, 2, 0.7, 0.01, 1])": (X, Z, lambda x, z: gp.RBF(np.sqrt(0.5 / np.array([0.1, 2, 0.7, 0.01, 1])))(x, z)),
    "laplacian(gamma=0.2)": (X, Z, lambda x, z: pw.laplacian_kernel(x, z, 0.2)),
    "exponential(gamma=0.5)": (X, Z, lambda x, z: gp.Matern(2.0, nu=0.5)(x, z)),
    "matern(nu=0.5, length_scale=1.3)": (X, Z, gp.Matern(1.3, nu=0.5)),
    "matern(nu=1.5, length_scale=1.3)": (X, Z, gp.Matern(1.3, nu=1.5)),
    "matern(nu=2.5, length_scale=0.8)": (X, Z, gp.Matern(0.8, nu=2.5)),
    "matern(nu=2.5, length_scale=[0.8, 1, 2, 3, 4])": (X, Z, gp.Matern([0.8, 1, 2, 3, 4], nu=2.5)),
    "rq(alpha=0.7, length_scale=1.1)": (X, Z, gp.RationalQuadratic(1.1, 0.7)),
    "periodic(period=3, length_scale=0.7)": (X, Z, periodic),
    "periodic(period=3, length_scale=0.7)[2]": (X, Z, lambda x, z: gp.ExpSineSquared(0.7, 3)(x[:, 1:2], z[:, 1:2])),
    "cosine": (X, Z, pw.cosine_similarity),
    "bessel_i0(0.7*linear)": (X, Z, lambda x, z: special.i0(0.7 * x @ z.T)),
    "logarithmic(0.9*rbf(gamma=0.4))": (X, Z, lambda x, z: -np.log1p(-0.9 * pw.rbf_kernel(x, z, 0.4))),
    "arcsin(0.95*cosine)": (X, Z, lambda x, z: np.arcsin(0.95 * pw.cosine_similarity(x, z))),
    "chi2(gamma=0.6)": (P, Q, lambda x, z: pw.chi2_kernel(x, z, 0.6)),
    "intersection": (P, Q, lambda x, z: np.minimum(x[:, None], z[None]).sum(-1)),
    "tanimoto": (P, Q, tanimoto),
    "minmax + jaccard": ((P > 1).astype(float), (Q > 1).astype(float), lambda x, z: 2 * tanimoto(x, z)),
    "additive_chi2": (P, Q, lambda x, z: (2 * x[:, None] * z[None] / (x[:, None] + z[None])).sum(-1)),
    "wendland(k=0, dimension=5, length_scale=6)": (X, Z, lambda x, z: np.maximum(0, 1 - distance(x, z) / 6) ** 3),
    "wendland(k=1, dimension=5, length_scale=6)": (
        X, Z, lambda x, z: np.maximum(0, 1 - distance(x, z) / 6) ** 5 * (5 * distance(x, z) / 6 + 1)),
    "wendland(k=2, dimension=3, radius=5)": (
        X, Z, lambda x, z: np.maximum(0, 1 - distance(x, z) / 5) ** 6
        * (35 * (distance(x, z) / 5) ** 2 + 18 * distance(x, z) / 5 + 3) / 3),
    "additive(rbf(gamma=0.4))[1:5]": (X, Z, lambda x, z: anova(x, z, 1)),
    "additive(rbf(gamma=0.4), order=3)[1:5]": (X, Z, lambda x, z: anova(x, z, 1) + anova(x, z, 2) + anova(x, z, 3)),
    "anova(rbf(gamma=0.4), order=4)[1:5]": (X, Z, lambda x, z: anova(x, z, 4)),
    "anova(rbf(gamma=0.4), order=5)[1:5]": (X, Z, lambda x, z: pw.rbf_kernel(x, z, 0.4)),
    "rbf(sigma=3)*periodic(period=3, length_scale=0.7)": (X, Z, lambda x, z: gp.RBF(3)(x, z) * periodic(x, z)),
    "sinc(length_scale=1.7)": (X, Z, lambda x, z: np.sinc((x[:, None] - z[None]) / 1.7).prod(-1)),
    "brownian[2]": (P, Q, lambda x, z: np.minimum(x[:, None, 1], z[None, :, 1])),
    "power(p=1.5)": (X, Z, lambda x, z: -distance(x, z)**1.5),
    "log(p=1, length_scale=2)": (X, Z, lambda x, z: -np.log(1 + distance(x, z) / 2)),
    "multiquadric(c=0.7)": (X, Z, lambda x, z: -np.sqrt(0.49 + distance(x, z)**2)),
    "thin_plate": (X, Z, lambda x, z: distance(x, z)**2 * np.log(np.maximum(distance(x, z), 1e-300))),
    "power(p=2, centred=1)": (X, Z, lambda x, z: 2 * x @ z.T),
    "multiquadric(c=0.7, centred=1)": (X, Z, lambda x, z: np.sqrt(0.49 + (x**2).sum(1))[:, None] + np.sqrt(0.49 + (z**2).sum(1)) - 0.7
                                       - np.sqrt(0.49 + distance(x, z)**2)),
    "brownian(hurst=0.8)": (X, Z, lambda x, z: 0.5 * (
        (np.linalg.norm(x, axis=1) ** 1.6)[:, None] + np.linalg.norm(z, axis=1) ** 1.6 - distance(x, z) ** 1.6)),
    "spline": (P, Q, spline),
    "gibbs(1 + x[1]^2)": (X, Z, gibbs),
    "rbf(form=[[2,1,0,0,0],[1,2,0,0,0],[0,0,1,0,0],[0,0,0,3,1],[0,0,0,1,1]])": (
        X, Z, lambda x, z: np.exp(-np.einsum("ijk,kl,ijl->ij", x[:, None] - z[None], A, x[:, None] - z[None]))),
    "imq(length_scale=1.5)": (X, Z, lambda x, z: 1 / np.sqrt(1 + distance(x, z) ** 2 / 1.5**2)),
    "matern(nu=0.3, length_scale=1.3)": (X, Z, matern_03),
    "matern(nu=2, length_scale=[0.8, 1, 2, 3, 4])": (X, Z, gp.Matern([0.8, 1, 2, 3, 4], nu=2)),
    "matern(nu=7.7, length_scale=2)": (X, Z, gp.Matern(2, nu=7.7)),
    "arccos(order=0)": (X, Z, arccos0),
    "arccos(order=1)": (X, Z, arccos1),
    "tanh(a=0.3, c=0.1)": (X, Z, lambda x, z: pw.sigmoid_kernel(x, z, 0.3, 0.1)),
    "sigmoid(gamma=0.3, coef0=0.1)": (X, Z, lambda x, z: pw.sigmoid_kernel(x, z, 0.3, 0.1)),
    "form([[2,1,0,0,0],[1,2,0,0,0],[0,0,1,0,0],[0,0,0,3,1],[0,0,0,1,1]])": (X, Z, lambda x, z: x @ A @ z.T),
    "0.5*rbf(gamma=0.1) + linear*poly(degree=2, c=1)^2": (
        X, Z, lambda x, z: 0.5 * pw.rbf_kernel(x, z, 0.1) + (x @ z.T) * (x @ z.T + 1) ** 4),
    "exp(0.3*linear)": (X, Z, lambda x, z: np.exp(0.3 * x @ z.T)),
    "normalize(poly(degree=3))": (
        X, Z, lambda x, z: (x @ z.T + 1) ** 3 / np.sqrt(np.outer(((x * x).sum(1) + 1) ** 3, ((z * z).sum(1) + 1) ** 3))),
    "1 + 2*linear + linear^2": (X, Z, lambda x, z: (1 + x @ z.T) ** 2),
    "rbf(gamma=1)[1:3] + laplacian(gamma=1)[5]": (
        X, Z, lambda x, z: pw.rbf_kernel(x[:, :3], z[:, :3], 1) + pw.laplacian_kernel(x[:, 4:], z[:, 4:], 1)),
    "weigh(exp(-norm2/2), exp(linear))": (X, Z, lambda x, z: pw.rbf_kernel(x, z, 0.5)),
    "linear - rbf(gamma=1)": (X, Z, lambda x, z: x @ z.T - pw.rbf_kernel(x, z, 1)),
}


def against(kernel, x, z, formula):
    def test():
        close(gram(kernel, x, z), formula(x, z), 1e-12)
        close(gram(kernel, x), formula(x, x), 1e-12)
    return test


def scale_rule():
    close(gram("rbf", X), pw.rbf_kernel(X, X, 1 / (X.shape[1] * X.var())), 1e-12)


def far_from_the_origin():
    """An offset of 1e6 would eat the distances if they came from |x|^2 - 2<x,z> + |z|^2 without centring."""
    shifted = X + 1e6
    d = shifted[:, None] - shifted[None]
    close(gram("rbf(gamma=0.5)", shifted), np.exp(-0.5 * (d * d).sum(-1)), 1e-9)


def white():
    rows = np.vstack([X[:4], X[:2]])
    close(gram("white", rows), (rows[:, None] == rows[None]).all(-1).astype(float), 0)


tests = {f"{k} equals the reference": against(k, *case) for k, case in CASES.items() if case}
tests["rbf without gamma takes scikit-learn's scale"] = scale_rule
tests["distances survive an offset of a million"] = far_from_the_origin
tests["white marks equal rows"] = white
run(tests)
