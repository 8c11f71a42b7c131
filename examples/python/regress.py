"""A noisy wave by kernel ridge and by support vector regression: what each makes of it, and what a hundred rows more would bring."""
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score, learning_curve
from sklearn.svm import SVR

rng = np.random.RandomState(1)
X = 5 * rng.rand(200, 1)
y = np.sin(X).ravel()
y[::5] += 3 * (0.5 - rng.rand(40))
grid = np.linspace(0, 5, 100)[:, None]

ridge = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X, y)
tube = SVR(kernel="rbf", gamma=0.5, C=10, epsilon=0.1, tol=1e-9).fit(X, y)
sizes, _, scores = learning_curve(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1), X, y, train_sizes=[40, 80, 150], cv=4)
results = {
    "ridge": ridge.predict(grid),
    "tube": tube.predict(grid),
    "coefficients of ridge": ridge.dual_coef_,
    "rows outside the tube or on it": tube.support_,
    "scores of ridge": cross_val_score(ridge, X, y, cv=5),
    "learning curve": scores.mean(axis=1),
}
