"""Reports: one self-contained page, the same as the command's."""

import json
import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from l0star import SparseClassifier, SparseRegressor, SparseRegressorCV, solve, sparse_path


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture
def page(tmp_path):
    def write(thing, *options):
        file = tmp_path / "page.html"
        thing.report(file, *options)
        text = file.read_text(encoding="utf-8")
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
        return text, json.loads(data[1])

    return write


def test_a_regression_shows_its_model_its_proof_and_its_residuals(diabetes, page):
    X, y = diabetes
    result = solve(X, y, 3, time_limit=1000)
    html, data = page(result)
    for words in (
        "A model of &#39;target&#39; with 3 features",
        "proved optimal: no model with at most 3 features is better",
        "Of all linear models of &#39;target&#39; with at most 3 of 10 features",
        "<code>l0star.solve(X, y, k=3, time_limit=1000)</code>",
        "Data: X, 442 rows and 10 features.",
        "With n_jobs=1 the result is the same bit for bit",
        "(cross-validation tells how much)",
    ):
        assert words in html, words
    rows, targets, scores = zip(*data["residuals"]["points"], strict=True)
    assert rows == tuple(range(1, 443))
    assert list(targets) == list(y)
    np.testing.assert_allclose(scores, X @ result.coef + result.intercept)
    assert data["trace"]["points"][-1]["objective"] == result.objective
    assert data["trace"]["points"][-1]["nodes"] == result.nodes
    assert not {"labels", "models", "prices", "path"} & set(data)
    assert 'href="http' not in html


def test_labels_weights_and_offsets(page):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    weights = np.where(np.arange(len(y)) < 400, 2.0, 0.0)
    labels = np.where(y == 1, "benign", "<malignant>")
    model = SparseClassifier(k=2, ridge=0.01).fit(X, labels, sample_weight=weights, offset=np.full(len(y), 0.5))
    html, data = page(model)
    for words in (
        "&#39;&lt;malignant&gt;&#39; (counted as -1) and &#39;benign&#39; (as +1)",
        "weighted by &#39;sample_weight&#39;",
        "The column &#39;offset&#39; is added",
        "divided by their standard deviations",
        "ridge=0.01, sample_weight=sample_weight, offset=offset)",
        "<dd>400</dd>",
    ):
        assert words in html, words
    assert "<malignant>" not in html
    assert sum(part["rows"] for part in data["labels"]["calibration"]) == 400


def test_lists_prices_and_constraints(diabetes, page):
    model = SparseRegressor(
        k=4,
        top=3,
        prices=True,
        include="age",
        include_free="sex",
        exclude="s6",
        groups=[["s1", "s2"]],
        bounds={"bmi": (None, 300)},
        nonnegative="bp",
        ridge_factor={"s3": 2.0},
        requires={"s4": "s5"},
    ).fit(*diabetes)
    html, data = page(model)
    for words in (
        "with 4 features",
        "at most 4 of 7 features",
        "The 2 columns of &#39;s1&#39; are in or out together",
        "In every model, and counted: &#39;age&#39;.",
        "In every model, and not counted: &#39;sex&#39;.",
        "The coefficients of these features may not be negative: &#39;bp&#39;.",
        "The coefficient of &#39;bmi&#39; has to be at most 300.",
        "The ridge of &#39;s3&#39; is multiplied by 2.",
        "&#39;s4&#39; may be in only together with &#39;s5&#39;.",
        "The result lists the 3 best models",
    ):
        assert words in html, words
    assert [found["objective"] for found in data["models"]["models"]] == [m.objective for m in model.solutions_]
    assert {price["feature"]: price["cost"] for price in data["prices"]} == {
        price.feature: price.cost for price in model.prices_
    }


def test_a_path_is_about_the_size_that_a_criterion_chooses(diabetes, page, tmp_path):
    # The checkpoint of a run is not part of the call that reproduces the result.
    path = sparse_path(*diabetes, k_max=5, checkpoint=tmp_path / "path.ckpt")
    html, data = page(path, "bic")
    best = path.best("bic")
    assert best.bic == min(result.bic for result in path)
    assert f"with {best.k} features" in html
    assert "l0star.sparse_path(X, y, k_max=5)" in html
    assert data["path"]["criterion"] == "BIC"
    assert data["path"]["chosen"] == best.k
    assert [point["support"] for point in data["path"]["points"]] == [result.features for result in path]
    with pytest.raises(ValueError, match="must be a str among"):
        path.report("never.html", "cp")


def test_a_path_without_a_likelihood_has_no_best_size(diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match="no likelihood"):
        sparse_path(X, y > 150, k_max=1, loss="squared-hinge").best()


def test_cross_validation_reports_its_last_fit(diabetes, page):
    model = SparseRegressorCV(ks=3, cv=3).fit(*diabetes)
    html, data = page(model)
    assert f"with {model.k_} features" in html
    assert len(data["residuals"]["points"]) == 442


def test_training_data_stay_at_home(diabetes, page):
    model = SparseRegressor(k=3).fit(*diabetes)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.result_.rows is None
    html, data = page(copy)
    assert "residuals" not in data
    assert "proved optimal" in html


def test_inexact_and_stopped_results_do_not_claim_more(diabetes, page):
    html, _ = page(solve(*diabetes, 3, method="omp"))
    assert "found by omp: nothing is proved" in html
    assert "Use method=&quot;best-first&quot; for a proof" in html


def test_what_cannot_be_written_is_an_os_error(diabetes, tmp_path):
    result = solve(*diabetes, 1)
    for bad in (tmp_path, tmp_path / "nowhere" / "page.html"):
        with pytest.raises(OSError, match=re.escape(str(bad))):
            result.report(bad)
    with pytest.raises(NotFittedError):
        SparseRegressor().report(tmp_path / "page.html")
