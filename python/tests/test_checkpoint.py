"""Searches that another process can go on with."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from l0star import SolveInterrupted, SparseRegressor, SparseRegressorCV, solve


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    return rng.normal(size=(50, 40)), rng.normal(size=50)


def stopped(data, **options):
    with pytest.warns(ConvergenceWarning, match="node limit"):
        return solve(*data, 8, node_limit=5, **options)


def test_a_search_goes_on_where_it_was_stopped(data, tmp_path):
    file = tmp_path / "search.ckpt"
    (tmp_path / ".search.ckpt.123.tmp").write_text("what a killed process left")
    begun = stopped(data, checkpoint=file)
    assert begun.status == "node_limit"
    whole = solve(*data, 8)
    resumed = solve(*data, 8, resume=str(file))
    assert resumed.status == "optimal"
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)
    assert list(resumed.support) == list(whole.support)
    # Counters go on, and what is done already is not done again.
    assert begun.nodes < resumed.nodes <= 1.5 * whole.nodes
    # The file has the end by now.
    again = solve(*data, 8, resume=file)
    assert again.status == "optimal"
    assert again.nodes == resumed.nodes
    assert [path.name for path in tmp_path.iterdir()] == ["search.ckpt"]


def test_resume_leaves_its_file_alone_when_another_is_given(data, tmp_path):
    stopped(data, checkpoint=tmp_path / "one")
    before = (tmp_path / "one").read_bytes()
    solve(*data, 8, resume=tmp_path / "one", checkpoint=tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == before
    assert (tmp_path / "two").read_bytes() != before


def test_ctrl_c_leaves_a_checkpoint(data, tmp_path):
    def callback(progress):
        if progress.nodes > 3:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted):
        solve(*data, 8, checkpoint=tmp_path / "search", callback=callback)
    assert solve(*data, 8, resume=tmp_path / "search").objective == pytest.approx(solve(*data, 8).objective)


def test_checkpoints_are_written_while_the_search_runs(data, tmp_path):
    file, seen = tmp_path / "search", []

    def callback(progress):
        if file.exists():
            seen.append(file.read_bytes())

    whole = solve(*data, 8, checkpoint=file, checkpoint_every=1e-6, callback=callback)
    assert seen
    (tmp_path / "seen").write_bytes(seen[0])
    resumed = solve(*data, 8, resume=tmp_path / "seen")
    assert resumed.status == "optimal"
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-9)


def test_constraints_and_lists_are_kept(data, tmp_path):
    options = {"groups": [[0, 1], [2, 3]], "nonnegative": [4, 5], "top": 3}
    stopped(data, checkpoint=tmp_path / "search", **options)
    resumed = solve(*data, 8, resume=tmp_path / "search", **options)
    expected = [model.objective for model in solve(*data, 8, **options).solutions]
    assert [model.objective for model in resumed.solutions] == pytest.approx(expected)


def test_what_is_no_checkpoint_of_this_search_is_refused(data, tmp_path):
    X, y = data
    file = tmp_path / "search"
    stopped(data, checkpoint=file)
    with pytest.raises(ValueError, match="checkpoint was made with k = 8, and now it is 7"):
        solve(X, y, 7, resume=file)
    with pytest.raises(ValueError, match="checkpoint"):
        solve(X, y + 1.0, 8, resume=file, fit_intercept=False)
    with pytest.raises(FileNotFoundError):
        solve(X, y, 8, resume=tmp_path / "nothing")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="the checkpoint cannot be resumed"):
        solve(X, y, 8, resume=file)
    with pytest.raises(ValueError, match="there is no folder"):
        solve(X, y, 8, checkpoint=tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="belong to method='best-first'"):
        solve(X, y, 8, checkpoint=file, method="paper")


def test_a_checkpoint_that_cannot_be_written_ends_nothing(data, tmp_path):
    # A folder cannot be replaced by a file.
    with pytest.warns(RuntimeWarning, match="the search goes on without it") as said:
        result = solve(*data, 8, checkpoint=tmp_path, checkpoint_every=1e-6)
    assert result.status == "optimal"
    assert len(said) == 1
    assert list(tmp_path.iterdir()) == []


def test_estimators_keep_checkpoints_too(data, tmp_path):
    file = tmp_path / "search.ckpt"
    with pytest.warns(ConvergenceWarning, match="node limit"):
        begun = SparseRegressor(k=8, node_limit=5, checkpoint=file).fit(*data)
    resumed = SparseRegressor(k=8, resume=file).fit(*data)
    assert (begun.status_, resumed.status_) == ("node_limit", "optimal")
    assert begun.n_nodes_ < resumed.n_nodes_
    assert resumed.objective_ == pytest.approx(solve(*data, 8).objective, rel=1e-9)
    with pytest.raises(ValueError, match="checkpoints belong to method='best-first'"):
        SparseRegressor(k=2, method="omp", checkpoint=file).fit(*data)


def test_cross_validation_keeps_a_checkpoint_of_its_last_fit(data, tmp_path):
    file = tmp_path / "search.ckpt"
    chosen = SparseRegressorCV(ks=[3], cv=2, checkpoint=file).fit(*data)
    again = SparseRegressor(k=3, resume=file).fit(*data)
    assert again.n_nodes_ == chosen.n_nodes_
    np.testing.assert_array_equal(again.coef_, chosen.coef_)


def test_prices_go_on_where_they_were_stopped(data, tmp_path):
    X, y = data
    file = tmp_path / "search"
    whole = solve(X, y, 4, prices=True)
    search = solve(X, y, 4, checkpoint=file)
    with pytest.warns(ConvergenceWarning, match="prices were stopped"):
        begun = solve(X, y, 4, prices=True, resume=file, node_limit=1, n_jobs=1)
    assert begun.nodes == search.nodes
    resumed = solve(X, y, 4, prices=True, resume=file)
    assert resumed.nodes == search.nodes
    for price, expected in zip(resumed.prices(), whole.prices(), strict=True):
        assert price.status == "optimal"
        assert price.objective == pytest.approx(expected.objective, rel=1e-12)
        assert price.features == expected.features
    # The file has the end of both by now.
    again = solve(X, y, 4, prices=True, resume=file, node_limit=0)
    assert [price.cost for price in again.prices()] == [price.cost for price in resumed.prices()]
