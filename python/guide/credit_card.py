"""A credit score that fits on a card: few yes-or-no questions, whole points, and nothing left to chance.

The applicants are invented, so that the script needs no download. The cells are for a notebook.
"""

# %% Applicants: what a bank knows, and who defaulted.
import numpy as np
import pandas as pd

from l0star import SparseClassifier, SparseClassifierCV

rng = np.random.default_rng(7)
rows = 2000
applicants = pd.DataFrame(
    {
        "age": rng.integers(18, 80, rows),
        "income": rng.lognormal(10.3, 0.5, rows).round(),
        "years in job": rng.exponential(5, rows).round(1),
        "cards": rng.poisson(2, rows),
        "late payments": rng.poisson(0.7, rows),
        "share of limit used": rng.beta(2, 3, rows).round(2),
        "months since last inquiry": rng.exponential(12, rows).round(),
    }
)
risk = (
    -2.2
    + 1.1 * (applicants["late payments"] >= 2)
    + 0.9 * (applicants["share of limit used"] > 0.6)
    + 0.8 * (applicants["years in job"] < 1)
    - 0.7 * (applicants["income"] > 40_000)
)
default = np.where(rng.random(rows) < 1 / (1 + np.exp(-risk)), "default", "paid")

# %% Questions: every quantity against its quintiles. Many of them say almost the same.
questions = pd.DataFrame(
    {
        f"{name} > {cut:g}": (values > cut).astype(float)
        for name, values in applicants.items()
        for cut in sorted(set(values.quantile([0.2, 0.4, 0.6, 0.8])))
        if 0 < (values > cut).mean() < 1
    }
)
print(f"{questions.shape[1]} questions")

# %% How many are worth asking? The label that comes first in the alphabet, "default", is the first class.
search = SparseClassifierCV(ks=6, scoring="neg_log_loss", ridges=[1e-3, 1e-2]).fit(questions, default)
print(f"{search.k_} questions are enough")

# %% The best card with so many: proved, so that no one can ask why another question was not taken.
model = SparseClassifier(k=search.k_, ridge=search.ridge_).fit(questions, default)
print(model.status_, f"{model.gap_:.1e}")

# %% Points: 20 points double the odds of paying.
per_point = np.log(2) / 20
points = {name: round(value / per_point) for name, value in model.result_.coefficients.items()}
start = round(float(model.intercept_[0]) / per_point)
print(f"{'start with':40} {start:+4}")
for question, value in points.items():
    print(f"{question:40} {value:+4}")

# %% What rounding to whole points costs.
score = start + questions[list(points)] @ np.array(list(points.values()))
agrees = np.mean((score > 0) == (model.predict(questions) == "paid"))
print(f"the card agrees with the model on {100 * agrees:.1f} % of the applicants")
