"""The best model of every size, and the size that the extended Bayesian criterion chooses.

The Rust version is `crates/l0star/examples/path.rs`.
"""

from pathlib import Path

import pandas as pd

from l0star import sparse_path

data = pd.read_csv(Path(__file__).parents[2] / "data" / "diabetes.csv")
X, y = data.drop(columns="target"), data["target"]

path = sparse_path(X, y, k_max=10)
for result in path:
    print(f"{result.k:>2}  {result.objective:.4f}  {result.ebic:.3f}  {' '.join(result.features)}".rstrip())
print("chosen:", *path.best("ebic").features)
