"""Choosing k: how many features the progression of diabetes needs.

The cells are for a notebook; as a script it prints what they show.
"""

# %% The data: ten measurements of 442 patients.
from sklearn.datasets import load_diabetes

from l0star import SparseRegressorCV, sparse_path

X, y = load_diabetes(return_X_y=True, as_frame=True)

# %% The best model of every size. Each is proved: there is none better of its size.
path = sparse_path(X, y, k_max=10)
for result in path:
    print(f"{result.k:2}  {result.objective:9.2f}  {result.status:8}  {' '.join(result.features)}")

# %% The objective only falls: a larger model always fits better. Where it no longer falls by much is a first hint.
gains = -(path.objectives[1:] - path.objectives[:-1]) / path.objectives[0]
print("gain of each feature, in percent:", (100 * gains).round(1))

# %% Information criteria weigh the fit against the size; each is least at the size that it would choose.
print(path.to_pandas()[["aic", "bic", "ebic"]].idxmin())

# %% Cross-validation asks how well a model predicts patients that it has not seen.
model = SparseRegressorCV(ks=10, cv=10).fit(X, y)
for params, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True):
    print(f"k = {params['k']:2}  R² = {score:6.3f}{'  <' if params['k'] == model.k_ else ''}")

# %% The one-standard-error rule took the smallest model that is not clearly worse than the best one.
print(model.result_)
