"""A model with constraints that make it plausible.

Three blood values enter together or not at all, the coefficients of weight, pressure and blood sugar are not negative,
and a product requires its factors. The Rust version is `crates/l0star/examples/constraints.rs`.
"""

from pathlib import Path

import pandas as pd

from l0star import SparseRegressor

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
# The columns have norm 1; multiplied by this factor, their values are about 1.
X, y = 21.0 * data.drop(columns="target"), data["target"]
X["age:sex"] = X["age"] * X["sex"]

model = SparseRegressor(
    k=6,
    groups=[["s1", "s2", "s3"]],
    nonnegative=["bmi", "bp", "s6"],
    requires={"age:sex": ["age", "sex"]},
    include="age:sex",
).fit(X, y)
print(f"status     {model.status_}")
print(f"objective  {model.objective_:.4f}")
for name, value in model.result_.coefficients.items():
    print(f"{name:<9}  {value:.4f}")
