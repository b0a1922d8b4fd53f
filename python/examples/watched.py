"""A search with a callback that stops it after eight nodes or a few more.

The model and its bound are valid nevertheless. The Rust version is `crates/l0star/examples/watched.rs`.
"""

from itertools import combinations
from pathlib import Path

import pandas as pd

from l0star import Progress, SparseRegressor

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
X, y = data.drop(columns="target"), data["target"]
# All products of two of the ten columns.
pairs = combinations(X.columns, 2)
X = pd.concat([X, *(X[a].mul(X[b]).rename(f"{a}:{b}") for a, b in pairs)], axis=1)

models = 0


def watch(progress: Progress) -> bool:
    """Count the models, and stop at the first event after eight nodes."""
    global models
    models += progress.kind == "incumbent"
    return progress.nodes >= 8


model = SparseRegressor(k=10, ridge=1e-6, callback=watch).fit(X, y)
print(f"models seen  {models}")
print(f"status       {model.status_}")
print(f"objective    {model.objective_:.4f}")
print(f"lower bound  {model.lower_bound_:.1f}")
