"""Two moons told apart by support vectors: how the boundary's stiffness C and the kernel's width gamma decide, by cross-validation."""
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

rng = np.random.RandomState(0)
angle = np.pi * rng.rand(240)
upper = np.arange(240) % 2 == 0
X = np.column_stack([np.where(upper, np.cos(angle), 1 - np.cos(angle)), np.where(upper, np.sin(angle), 0.5 - np.sin(angle))])
X += 0.25 * rng.randn(240, 2)
y = np.where(upper, "upper", "lower")

search = GridSearchCV(make_pipeline(StandardScaler(), SVC(tol=1e-8)), {"svc__C": [0.1, 1, 10], "svc__gamma": [0.1, 1, 10]}, cv=4)
search.fit(X[:160], y[:160])
best = search.best_estimator_[-1]
results = {
    "chosen": [search.best_params_["svc__C"], search.best_params_["svc__gamma"]],
    "mean scores": search.cv_results_["mean_test_score"],
    "score on new rows": search.score(X[160:], y[160:]),
    "decisions": search.decision_function(X[160:]),
    "support vectors": best.support_,
    "their coefficients": best.dual_coef_,
}
