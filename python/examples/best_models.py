"""The five best models in order, and the cost of the other decision about each feature.

The Rust version is `crates/l0star/examples/best_models.rs`.
"""

from pathlib import Path

import pandas as pd

from l0star import SparseRegressor

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
X, y = data.drop(columns="target"), data["target"]

model = SparseRegressor(k=4, top=5, prices=True).fit(X, y)
for found in model.solutions_:
    print(f"{found.objective:.4f}  {' '.join(found.features)}")
print(f"no other model is below {model.result_.rest_bound:.3f}")
for price in model.prices_:
    print(f"{'without' if price.chosen else 'with':<7}  {price.feature:<3}  {price.cost:.4f}")
