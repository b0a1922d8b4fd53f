"""A first fit: the best model with three features, and its proof.

The Rust version is `crates/l0star/examples/first_fit.rs`.
"""

from pathlib import Path

import pandas as pd

from l0star import SparseRegressor

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
X, y = data.drop(columns="target"), data["target"]

model = SparseRegressor(k=3).fit(X, y)
print(f"status       {model.status_}")
print(f"objective    {model.objective_:.6f}")
print(f"lower bound  {model.lower_bound_:.6f}")
for name, value in model.result_.coefficients.items():
    print(f"{name:<11}  {value:.4f}")
print(f"(intercept)  {model.intercept_:.4f}")
