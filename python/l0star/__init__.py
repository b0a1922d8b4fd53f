"""Provably best sparse models.

Among all models with at most ``k`` features, l0star finds one with the lowest objective, together with a certified
lower bound that no such model can beat.

=============================================  =========================================================
:func:`solve`                                  the best model of one problem, as a :class:`Result`
:func:`sparse_path`                            the best model of every size
:func:`penalty_path`                           the best model at every price of a feature
:func:`stability`                              the best model of every resample of the rows
:class:`SparseRegressor`                       scikit-learn's interface for regression
:class:`SparseClassifier`                      scikit-learn's interface for two or more classes
:class:`SparseCox`                             scikit-learn's interface for times until an event
:class:`Moments`                               sums over rows, in place of any number of rows
:class:`ColumnStore`                           columns in a file, for data larger than memory
:func:`on`                                     searches on the workers of a Dask client or an executor
:func:`load`, :func:`export`                   a model file as an estimator; as SQL or Python code
:class:`SparseRegressorCV`,                    ``k`` (and the ridge) chosen by cross-validation
:class:`SparseClassifierCV`, :class:`SparseCoxCV`
=============================================  =========================================================

Searches release the GIL and can be stopped by Ctrl-C, by a callback or by limits. They log to the logger ``l0star``:
results at level INFO, progress at level DEBUG.
"""

from l0star._cluster import ClusterError, on
from l0star._core import VERSION as __version__
from l0star._cox import SparseCox
from l0star._cv import SparseClassifierCV, SparseCoxCV, SparseRegressorCV
from l0star._estimators import SparseClassifier, SparseRegressor
from l0star._load import export, load
from l0star._moments import Moments
from l0star._path import SparsePath, sparse_path
from l0star._penalty import PenaltyPath, PenaltyPiece, penalty_path
from l0star._prices import Price, Prices
from l0star._progress import Progress
from l0star._result import Model, Result
from l0star._solve import SolveInterrupted, solve
from l0star._stability import Stability, stability
from l0star._store import ColumnStore
from l0star._warnings import L0starWarning

__all__ = [
    "ClusterError",
    "ColumnStore",
    "L0starWarning",
    "Model",
    "Moments",
    "PenaltyPath",
    "PenaltyPiece",
    "Price",
    "Prices",
    "Progress",
    "Result",
    "SolveInterrupted",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseCox",
    "SparseCoxCV",
    "SparsePath",
    "SparseRegressor",
    "SparseRegressorCV",
    "Stability",
    "__version__",
    "export",
    "load",
    "on",
    "penalty_path",
    "solve",
    "sparse_path",
    "stability",
]
