# %% [markdown]
# # Groups and interactions: what goes with a man's wage?
#
# The data are the wages of 3,000 men of the Mid-Atlantic region, from the Current Population Survey (the data set
# `Wage` of the book *An Introduction to Statistical Learning*, which comes with the package `ISLP`). Education has five
# categories, which should be in or out as a whole and count as one feature. An interaction should be in only together
# with its factors.

# %%
from importlib.metadata import distribution
from itertools import combinations

import pandas as pd

from l0star import SparseRegressor, sparse_path

workers = pd.read_csv(distribution("ISLP").locate_file("ISLP/data/Wage.csv"))
y = workers["logwage"]
workers = workers[["year", "age", "maritl", "race", "education", "jobclass", "health", "health_ins"]]
print(workers.describe(include="all").loc[["count", "unique", "top", "mean", "std"]].T.to_string())

# %% [markdown]
# ## Columns, groups and rules
#
# A categorical variable becomes one indicator column per category. Numbers are centred, so that products differ from
# their factors. Every pair of variables contributes the products of all their columns; the square of age is added. All
# columns of a variable or an interaction form a group.

# %%
parts = {}
for name in workers:
    values = workers[name]
    if values.dtype.kind in "if":
        parts[name] = pd.DataFrame({name: (values - values.mean()) / values.std()})
    else:
        levels = pd.get_dummies(values.str.replace(r"^\d+\. ", "", regex=True), dtype=float)
        # Of two levels one says everything.
        levels = levels.iloc[:, 1:] if levels.shape[1] == 2 else levels
        parts[name] = levels.add_prefix(f"{name}=")
factors = {}
for one, two in combinations(workers.columns, 2):
    factors[f"{one}:{two}"] = [one, two]
    columns = {f"{a}:{b}": parts[one][a] * parts[two][b] for a in parts[one] for b in parts[two]}
    parts[f"{one}:{two}"] = pd.DataFrame(columns).loc[:, lambda table: table.abs().sum() >= 20]
parts["age^2"], factors["age^2"] = (parts["age"] ** 2).set_axis(["age^2"], axis=1), ["age"]

X = pd.concat(parts.values(), axis=1)
first = {name: part.columns[0] for name, part in parts.items()}
variable = {column: name for name, part in parts.items() for column in part}
rules = {
    "groups": [list(part.columns) for part in parts.values() if part.shape[1] > 1],
    # A column stands for its group.
    "requires": {first[name]: [first[factor] for factor in names] for name, names in factors.items()},
}
print(f"{X.shape[1]} columns in {len(parts)} features, of which {len(factors)} are interactions or squares")


def named(columns: list[str]) -> str:
    """The features that columns belong to."""
    return ", ".join(dict.fromkeys(variable[column] for column in columns))


# %% [markdown]
# ## The best model of every size
#
# A group counts once, whatever its number of columns. If the status is `optimal`, no model of that size that obeys the
# rules is better.

# %%
path = sparse_path(X, y, k_max=6, **rules)
for result in path:
    print(f"{result.k}  {result.objective:.5f}  {result.status:8}  {named(result.features)}")

# %%
print(path.to_pandas()[["aic", "bic", "ebic"]].idxmin().to_string())

# %% [markdown]
# ## A model, and what each of its parts is worth

# %%
model = SparseRegressor(k=4, prices=True, **rules).fit(X, y)
print(model.result_)
print(f"R² {model.score(X, y):.3f}, on the rows of the fit")

# %%
prices = model.result_.prices().to_pandas()
prices.index = [variable.get(column, column) for column in prices.index]
prices["percent of the objective"] = (100 * prices["cost"] / model.objective_).round(2)
print(prices[["chosen", "percent of the objective"]].head(10).to_string())

# %% [markdown]
# ## What the rules cost
#
# Without the rules, every column is a separate feature, and any product may be in by itself:

# %%
anything = SparseRegressor(k=4).fit(X, y)
print(f"with the rules     {model.objective_:.5f}  {named(model.result_.features)}")
print(f"without the rules  {anything.objective_:.5f}  {', '.join(anything.result_.features)}")

# %% [markdown]
# **Conclusion.** Constraints are part of the problem that is solved, and the proof is about the constrained problem.
# The result is the best model among those that make sense; nothing has to be repaired afterwards. Wages of men surveyed
# in one region say nothing about causes.
