"""Two rings that no line separates: their kernel principal components are separated by one, and lead back to the rows."""
import numpy as np
from sklearn.decomposition import KernelPCA

rng = np.random.RandomState(2)
angle, radius = 2 * np.pi * rng.rand(150), np.where(np.arange(150) % 2, 1.0, 0.3)
X = (radius * np.array([np.cos(angle), np.sin(angle)])).T + 0.05 * rng.randn(150, 2)

plane = KernelPCA(n_components=2, kernel="linear").fit(X)
bent = KernelPCA(n_components=4, kernel="rbf", gamma=5, fit_inverse_transform=True, alpha=0.1).fit(X)
scores = bent.transform(X)
results = {
    "variances in the plane": plane.eigenvalues_,
    "variances in feature space": bent.eigenvalues_,
    "scores": scores,
    "rows from their scores": bent.inverse_transform(scores),
    "names": bent.get_feature_names_out(),
}
