# %% [markdown]
# # Gene expression: 2,308 genes of 63 tumours
#
# Khan and others (Nature Medicine, 2001) measured the expression of 2,308 genes in small round blue cell tumours of
# childhood. There are 63 tumours for training and 20 for testing, of four kinds that look alike under a microscope. Can
# a few genes distinguish Ewing's sarcoma from the other three?
#
# The data are those of the book *An Introduction to Statistical Learning*; they come with the package `ISLP`.

# %%
import warnings
from importlib.metadata import distribution

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from l0star import SparseClassifier

folder = distribution("ISLP").locate_file("ISLP/data")


def read(name: str) -> pd.DataFrame:
    """A table of the package."""
    return pd.read_csv(f"{folder}/{name}.csv")


KINDS = {1: "Burkitt lymphoma", 2: "Ewing's sarcoma", 3: "neuroblastoma", 4: "rhabdomyosarcoma"}
X, X_test = (
    read(name).rename(columns=lambda column: column.replace("V", "g")) for name in ("Khan_xtrain", "Khan_xtest")
)
kind, kind_test = (read(name)["x"].map(KINDS) for name in ("Khan_ytrain", "Khan_ytest"))
print(X.shape, X_test.shape)
print(kind.value_counts().to_string())
ewing, ewing_test = kind == "Ewing's sarcoma", kind_test == "Ewing's sarcoma"

# %% [markdown]
# ## The best pair of genes
#
# There are 2,662,278 pairs. With many more genes than tumours, many models fit almost equally well, so the ridge
# matters: 0.1 on the standardised scale keeps coefficients moderate.

# %%
pair = SparseClassifier(k=2, ridge=0.1, top=10).fit(X, ewing)
print(pair.result_.headline)
for model in pair.solutions_:
    print(f"{model.objective:.5f}", *model.features)
print(f"right on {(pair.predict(X_test) == ewing_test).sum()} of {len(X_test)} tumours that it has not seen")

# %% [markdown]
# ## More genes
#
# Each of these models is proved, too. The test tumours, which the models have not seen, show when to stop.

# %%
for k in range(1, 6):
    model = SparseClassifier(k=k, ridge=0.1).fit(X, ewing)
    right = (model.predict(X_test) == ewing_test).sum()
    print(f"{k}  {model.status_}  {model.objective_:.5f}  right on {right} of {len(X_test)}  ", *model.result_.features)

# %% [markdown]
# ## A limit
#
# Proofs get harder with every gene, and with a smaller ridge. A limit on time or on nodes makes sure that there is an
# answer: the best model found, and a certified bound on the objective of any other model. If a limit ends a search, the
# estimator warns; the notebook prints the headline of the result instead.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    limited = SparseClassifier(k=4, ridge=0.003, node_limit=15).fit(X, ewing)
print(limited.result_.headline)
print(f"{limited.objective_:.5f}, at least {limited.lower_bound_:.5f}:", *limited.result_.features)

# %% [markdown]
# ## Comparison with the lasso
#
# The lasso has no k: the lower its penalty (the larger C), the more genes it selects.

# %%
for C in [0.02, 0.05, 0.1, 0.2, 0.5, 1.0]:
    lasso = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1, C=C, solver="liblinear")).fit(X, ewing)
    genes = X.columns[lasso[-1].coef_[0] != 0]
    right = (lasso.predict(X_test) == ewing_test).sum()
    print(f"C = {C:<4}  {len(genes):2} genes, right on {right} of {len(X_test)}   {' '.join(genes[:8])}")

# %% [markdown]
# ## Which genes could replace them?
#
# For each of the two genes, the best model without it, and its price in per cent of the objective:

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for gene in pair.result_.features:
        without = SparseClassifier(k=2, ridge=0.1, exclude=[gene]).fit(X, ewing)
        cost = 100 * (without.objective_ / pair.objective_ - 1)
        print(
            f"without {gene}: +{cost:.1f} % ({without.status_}), best are then {' and '.join(without.result_.features)}"
        )

# %% [markdown]
# **Conclusion.** With 63 tumours, the proof says which pair fits best, not which genes drive the disease: the list of
# the ten best pairs shows how many come close. Twenty test tumours are few, too.
