"""Probabilities from decisions of pairs of classes.

A sigmoid 1 / (1 + exp(A f + B)) turns the decision of a pair into the probability of its first class (Platt 1999; Newton's method of
Lin, Lin and Weng 2007), fitted to decisions on rows that were left out. The pairs are then made one distribution p: the minimum of
sum_ij (r_ji p_i - r_ij p_j)^2 over the simplex (Wu, Lin and Weng 2004, second method), which one linear system solves."""
import numpy as np


def _loss_terms(f, t, A, B):
    """Cross-entropy, its gradient and Hessian, without overflow."""
    z = A * f + B
    loss = np.sum(np.where(z >= 0, t * z + np.log1p(np.exp(-np.abs(z))), (t - 1) * z + np.log1p(np.exp(-np.abs(z)))))
    p = np.where(z >= 0, np.exp(-np.abs(z)), 1.0) / (1 + np.exp(-np.abs(z)))
    slope, curve = t - p, p * (1 - p)
    gradient = np.array([np.dot(f, slope), slope.sum()])
    hessian = np.array([[np.dot(f * f, curve), np.dot(f, curve)], [np.dot(f, curve), curve.sum()]]) + 1e-12 * np.eye(2)
    return loss, gradient, hessian


def fit_sigmoid(f, positive, steps=100):
    """A and B for decisions f; targets are pulled off 0 and 1 by the counts, so that a separable pair has an answer."""
    above, below = positive.sum(), len(f) - positive.sum()
    t = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
    at = np.array([0.0, np.log((below + 1.0) / (above + 1.0))])
    loss, gradient, hessian = _loss_terms(f, t, *at)
    for _ in range(steps):
        if np.abs(gradient).max() < 1e-5:
            break
        way = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10:
            new = _loss_terms(f, t, *(at - length * way))
            if new[0] < loss + 1e-4 * length * np.dot(gradient, -way):
                break
            length /= 2
        at = at - length * way
        loss, gradient, hessian = new
    return at


def pair_probabilities(decisions, A, B):
    """The probability of the first class of every pair, kept off 0 and 1."""
    z = decisions * A + B
    p = np.where(z >= 0, np.exp(-np.abs(z)), 1.0) / (1 + np.exp(-np.abs(z)))
    return np.clip(p, 1e-7, 1 - 1e-7)


def couple(pairs, count):
    """n x pairs to n x classes. Q p = b e with Q_ii = sum_j r_ji^2, Q_ij = -r_ji r_ij, sum p = 1."""
    n = len(pairs)
    system = np.zeros((n, count + 1, count + 1))
    place = 0
    for i in range(count):
        for j in range(i + 1, count):
            first, second = pairs[:, place], 1 - pairs[:, place]
            system[:, i, i] += second**2
            system[:, j, j] += first**2
            system[:, i, j] = system[:, j, i] = -first * second
            place += 1
    system[:, :count, count] = system[:, count, :count] = 1
    right = np.zeros((n, count + 1, 1))
    right[:, count] = 1
    p = np.clip(np.linalg.solve(system, right)[:, :count, 0], 0, None)
    return p / p.sum(axis=1, keepdims=True)
