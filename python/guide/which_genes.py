"""Which genes? Many more columns than rows, and neighbours that look alike.

The expression data are invented, so that the script needs no download. The cells are for a notebook.
"""

# %% 120 samples, 400 genes in blocks of correlated neighbours; four of them decide.
import numpy as np
import pandas as pd

from l0star import SparseClassifier

rng = np.random.default_rng(11)
samples, genes, block = 120, 400, 10
shared = np.repeat(rng.normal(size=(samples, genes // block)), block, axis=1)
expression = 0.7 * shared + 0.7 * rng.normal(size=(samples, genes))
names = [f"g{j}" for j in range(genes)]
X = pd.DataFrame(expression, columns=names)
causes = ["g25", "g133", "g207", "g388"]
margin = X[causes] @ np.array([4.0, -3.5, 3.0, -3.0])
tumour = np.where(rng.random(samples) < 1 / (1 + np.exp(-margin)), "tumour", "healthy")

# %% A fast method first: it takes one gene after the other and cannot go back.
greedy = SparseClassifier(k=4, ridge=0.05, method="omp").fit(X, tumour)
print("omp: ", greedy.result_.features, f"objective {greedy.objective_:.5f}")

# %% The search, stopped as soon as the model is within 0.01 of the best one that exists.
exact = SparseClassifier(k=4, ridge=0.05, gap=0.01).fit(X, tumour)
print("best:", exact.result_.features, f"objective {exact.objective_:.5f}, at least {exact.lower_bound_:.5f}")
print(exact.result_.headline)

# %% How much a gene matters: the best model without it. A neighbour may stand in for it, or not.
for gene in exact.result_.features:
    without = SparseClassifier(k=4, ridge=0.05, gap=0.01, exclude=[gene]).fit(X, tumour)
    change = sorted(set(without.result_.features) - set(exact.result_.features))
    print(f"without {gene}: {without.objective_ - exact.objective_:+.5f}, instead {change}")
