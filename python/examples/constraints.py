"""A model that has to make sense.

Blood values are in or out together, weight and pressure never a relief, and there is no product without its factors.
Its twin is `crates/l0star/examples/constraints.rs`.
"""

from pathlib import Path

import pandas as pd

from l0star import SparseRegressor

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
# The columns have length 1; times this, their values are about 1.
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
