# %% [markdown]
# # A clinical risk model: few measurements, their prices, and their stability
#
# A needle biopsy of a breast tumour gives thirty measurements of its cell nuclei. Which few of them distinguish
# malignant from benign tumours? What would it cost to leave out each of them? Would other patients have led to the same
# choice?
#
# The data are the 569 patients of the Wisconsin Diagnostic Breast Cancer study, which come with scikit-learn.

# %%
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from l0star import SparseClassifier, SparseClassifierCV, stability

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
print(f"{len(train)} patients to fit, {len(test)} kept aside, {X.shape[1]} measurements")

# %% [markdown]
# ## How many measurements?
#
# Cross-validation scores every size by its log-loss, on folds of the training patients. It chooses the smallest size
# within one standard error of the best. The ridge is 0.01: malignant and benign tumours are nearly separable, and
# without a ridge the coefficients would grow without bound.

# %%
search = SparseClassifierCV(ks=12, ridges=[1e-2], scoring="neg_log_loss").fit(train, y_train)
scores = pd.DataFrame(search.cv_results_["params"]).assign(score=search.cv_results_["mean_test_score"])
print(scores[["k", "score"]].round(3).to_string(index=False))
print("chosen:", search.k_)

# %% [markdown]
# ## The model
#
# The status says that no other choice of the same number of measurements has a lower objective. Coefficients are
# log-odds. Per standard deviation they are comparable, and their exponential is an odds ratio.

# %%
model = SparseClassifier(k=search.k_, ridge=1e-2, prices=True, top=8).fit(train, y_train)
print(model.result_)
effects = pd.Series(model.result_.per_sd)
print(np.exp(effects).round(2).rename("odds ratio of malignant, one SD more").to_string())

# %% [markdown]
# ## Does the model hold for patients that it has not seen?

# %%
malignant = model.predict_proba(test)[:, list(model.classes_).index("malignant")]
truth = (y_test == "malignant").to_numpy()
print(f"AUC {roc_auc_score(truth, malignant):.3f}, Brier score {brier_score_loss(truth, malignant):.3f}")
print(f"accuracy {np.mean(model.predict(test) == y_test):.3f}")

# %% [markdown]
# ## What each measurement is worth
#
# A price is the rise of the objective if a chosen measurement is left out, or if another one is forced in. Both are
# optima, not guesses: for each of them the search has proved that nothing better exists.

# %%
prices = model.result_.prices().to_pandas()
prices["percent"] = (100 * prices["cost"] / model.objective_).round(1)
print(prices[["chosen", "percent"]].head(12).to_string())

# %%
axes = model.result_.plot_prices(most=12)
# %% [markdown]
# The runners-up show which measurements can replace each other:

# %%
for other in model.solutions_[:5]:
    print(f"{other.objective:.5f}", "  ".join(other.features))

# %% [markdown]
# ## Stability
#
# Draw the patients again, with replacement, and find and prove the best model of each draw. A measurement that is
# chosen in nearly every draw does not depend on a few patients.

# %%
stable = stability(train, y_train, k=search.k_, loss="logistic", ridge=1e-2, resamples=200)
print(stable)

# %%
axes = stable.plot(most=12)
# %% [markdown]
# These intervals take the choice into account: they hold the middle 95 % of a coefficient over all draws, with 0 where
# the measurement was not chosen.

# %%
print(stable.to_pandas().query("frequency > 0.05").round(2).to_string())

# %% [markdown]
# Two measurements stand for each other if one is mostly out when the other is in:

# %%
for pair in stable.pairs[:6]:
    print(f"{pair['one']:4.0%} have one of them, {pair['both']:3.0%} both:", " or ".join(pair["features"]))

# %% [markdown]
# The best model of all patients, marked with a star, need not be the best model of many draws:

# %%
for winner in stable.models[:5]:
    print(f"{winner['share']:5.1%}", "*" if winner["chosen"] else " ", ", ".join(winner["features"]))

# %% [markdown]
# **Conclusion.** The proof says that this is the best model of its size for these patients. The prices and the
# resamples say which of its measurements are hard to replace. None of this makes a measurement a cause.
