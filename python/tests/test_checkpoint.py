"""Checkpoints: searches that another process can resume."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from l0star import SolveInterrupted, SparseRegressor, SparseRegressorCV, solve, sparse_path
from l0star._core import Lock


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    return rng.normal(size=(50, 40)), rng.normal(size=50)


@pytest.fixture
def few(data):
    """Return a few of the columns, for tests with a checkpoint after every node."""
    X, y = data
    return X[:, :16], y


def stopped(data, **options):
    with pytest.warns(ConvergenceWarning, match="node limit"):
        return solve(*data, 8, node_limit=5, **options)


def stopped_path(data, **options):
    with pytest.warns(ConvergenceWarning, match="The proof is not complete for"):
        return sparse_path(*data, k_max=8, node_limit=5, **options)


#: The functions that have checkpoints, each with one that stops it early.
both = pytest.mark.parametrize(
    ("run", "stop"),
    [(partial(solve, k=8), stopped), (partial(sparse_path, k_max=8), stopped_path)],
    ids=["solve", "path"],
)


def same(path, expected):
    assert [result.status for result in path] == ["optimal"] * len(expected)
    assert path.ks.tolist() == expected.ks.tolist()
    np.testing.assert_allclose(path.objectives, expected.objectives, rtol=1e-12)
    assert [result.features for result in path] == [result.features for result in expected]


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
    # Counters continue, and finished work is not repeated.
    assert begun.nodes < resumed.nodes <= 1.5 * whole.nodes
    # The file now holds the finished state.
    again = solve(*data, 8, resume=file)
    assert again.status == "optimal"
    assert again.nodes == resumed.nodes
    assert [path.name for path in tmp_path.iterdir()] == ["search.ckpt"]


@both
def test_a_second_run_on_one_file_is_refused(data, tmp_path, run, stop):
    file = tmp_path / "search.ckpt"
    stop(data, checkpoint=file)
    other = Lock(file)
    for options in ({"checkpoint": file}, {"resume": file}):
        with pytest.raises(BlockingIOError, match=r"search\.ckpt' is in use by another run"):
            run(*data, **options)
    other.release()
    run(*data, resume=file)
    run(*data, resume=file)
    assert [path.name for path in tmp_path.iterdir()] == ["search.ckpt"]


@both
def test_resume_leaves_its_file_alone_when_another_is_given(data, tmp_path, run, stop):
    stop(data, checkpoint=tmp_path / "one")
    before = (tmp_path / "one").read_bytes()
    run(*data, resume=tmp_path / "one", checkpoint=tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == before
    assert (tmp_path / "two").read_bytes() != before


def test_ctrl_c_leaves_a_checkpoint(data, tmp_path):
    def callback(progress):
        if progress.nodes > 3:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted):
        solve(*data, 8, checkpoint=tmp_path / "search", callback=callback)
    assert solve(*data, 8, resume=tmp_path / "search").objective == pytest.approx(solve(*data, 8).objective)


def test_checkpoints_are_written_while_the_search_runs(few, tmp_path):
    file, seen = tmp_path / "search", []

    def callback(progress):
        if file.exists():
            seen.append(file.read_bytes())

    whole = solve(*few, 8, checkpoint=file, checkpoint_every=0.0, callback=callback)
    assert seen
    (tmp_path / "seen").write_bytes(seen[0])
    resumed = solve(*few, 8, resume=tmp_path / "seen")
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
    with pytest.raises(ValueError, match="search': the checkpoint was made with k = 8, and now it is 7"):
        solve(X, y, 7, resume=file)
    with pytest.raises(ValueError, match="checkpoint"):
        solve(X, y + 1.0, 8, resume=file, fit_intercept=False)


def test_what_is_no_checkpoint_of_this_path_is_refused(data, tmp_path):
    X, y = data
    file = tmp_path / "path"
    stopped_path(data, checkpoint=file)
    before = file.read_bytes()
    for words, options in [
        ("sizes = 0 to 8, and now it is 0 to 7", {"k_max": 7}),
        ("sizes = 0 to 8, and now it is 1 to 8", {"include": 3}),
        ("loss = quadratic, and now it is huber", {"loss": "huber"}),
        ("gap = 0, and now it is 0.5", {"gap": 0.5}),
        ("top = 1, and now it is 2", {"top": 2}),
        ("it belongs to other data", {"y": y + np.eye(50)[7]}),
        ("it belongs to other data", {"ridge": 0.1}),
        ("it belongs to other data", {"exclude": [5]}),
    ]:
        with pytest.raises(ValueError, match=f"^resume='.*path': the checkpoint .*{words}"):
            sparse_path(**{"X": X, "y": y, "k_max": 8, "resume": file, **options})
    assert file.read_bytes() == before


def test_a_path_and_a_search_do_not_take_up_each_other(data, tmp_path):
    stopped(data, checkpoint=tmp_path / "search")
    stopped_path(data, checkpoint=tmp_path / "path")
    with pytest.raises(ValueError, match=r"search': .* it belongs to a single search, and this is a path"):
        sparse_path(*data, k_max=8, resume=tmp_path / "search")
    with pytest.raises(ValueError, match=r"path': .* it belongs to a path, and this is a single search"):
        solve(*data, 8, resume=tmp_path / "path")


@both
def test_files_and_methods_that_cannot_be_are_refused(data, tmp_path, run, stop):
    for file in [tmp_path / "nothing", tmp_path / "no" / "folder"]:
        with pytest.raises(FileNotFoundError, match=file.name):
            run(*data, resume=file)
    with pytest.raises(ValueError, match=r"checkpoint='.*': there is no folder"):
        run(*data, checkpoint=tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match=r"'checkpoint_every' parameter of .* must be"):
        run(*data, checkpoint=tmp_path / "file", checkpoint_every=-1.0)
    stop(data, checkpoint=tmp_path / "file")
    for option in ["checkpoint", "resume"]:
        with pytest.raises(ValueError, match="checkpoints belong to method='best-first'; got method='paper'"):
            run(*data, method="paper", **{option: tmp_path / "file"})


@both
def test_damaged_files_are_refused(data, tmp_path, run, stop):
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    stop(data, checkpoint=whole)
    good = whole.read_bytes()
    places = [len(good) * i // 40 for i in range(40)]
    flipped = [good[:at] + bytes([good[at] ^ 1 << i % 8]) + good[at + 1 :] for i, at in enumerate(places)]
    for bad in [*flipped, *(good[:at] for at in places), good[:-1], good + b"0", b"a,b\n1,2\n"]:
        damaged.write_bytes(bad)
        with pytest.raises(ValueError, match=r"^resume='.*damaged': the checkpoint cannot be resumed"):
            run(*data, resume=damaged)
        assert damaged.read_bytes() == bad


@both
def test_a_checkpoint_that_cannot_be_written_ends_nothing(few, tmp_path, run, stop):
    # A folder cannot be replaced by a file.
    with pytest.warns(RuntimeWarning, match="the search goes on without it") as said:
        result = run(*few, checkpoint=tmp_path, checkpoint_every=0.0)
    assert {one.status for one in getattr(result, "results", [result])} == {"optimal"}
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


def test_cross_validation_refuses_files_before_the_first_fold(data, tmp_path):
    split = []

    class Folds:
        def split(self, X, y):
            split.append(len(X))
            yield np.arange(2), np.arange(2, len(X))

        def get_n_splits(self):
            return 1

    with pytest.raises(FileNotFoundError, match="no-such"):
        SparseRegressorCV(ks=[3], cv=Folds(), resume=tmp_path / "no-such").fit(*data)
    with pytest.raises(ValueError, match="there is no folder"):
        SparseRegressorCV(ks=[3], cv=Folds(), checkpoint=tmp_path / "nowhere" / "c").fit(*data)
    assert split == []


def test_prices_go_on_where_they_were_stopped(data, tmp_path):
    X, y = data
    file = tmp_path / "search"
    whole = solve(X, y, 4, prices=True)
    search = solve(X, y, 4, checkpoint=file)
    with pytest.warns(ConvergenceWarning, match=r"not complete for \d+ prices"):
        begun = solve(X, y, 4, prices=True, resume=file, node_limit=1, n_jobs=1)
    assert begun.nodes == search.nodes
    resumed = solve(X, y, 4, prices=True, resume=file)
    assert resumed.nodes == search.nodes
    for price, expected in zip(resumed.prices(), whole.prices(), strict=True):
        assert price.status == "optimal"
        assert price.objective == pytest.approx(expected.objective, rel=1e-12)
        assert price.features == expected.features
    # The file now holds the finished state of the search and of the prices.
    again = solve(X, y, 4, prices=True, resume=file, node_limit=0)
    assert [price.cost for price in again.prices()] == [price.cost for price in resumed.prices()]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_path_goes_on_where_node_limits_stopped_it(data, tmp_path, n_jobs):
    file = tmp_path / "path.ckpt"
    (tmp_path / ".path.ckpt.123.tmp").write_text("what a killed process left")
    whole = sparse_path(*data, k_max=8)
    path, runs = stopped_path(data, checkpoint=file, n_jobs=n_jobs), 1
    while any(result.status == "node_limit" for result in path):
        before = path
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = sparse_path(*data, k_max=8, node_limit=5, resume=str(file), n_jobs=n_jobs)
        for old, new in zip(before, path, strict=True):
            # Counters continue, and finished work is not repeated.
            assert new.nodes > old.nodes if old.status == "node_limit" else new.nodes == old.nodes
        runs += 1
    assert runs > 3
    same(path, whole)
    # The file now holds the finished state.
    again = sparse_path(*data, k_max=8, node_limit=0, resume=file)
    same(again, whole)
    assert [result.nodes for result in again] == [result.nodes for result in path]
    assert [left.name for left in tmp_path.iterdir()] == ["path.ckpt"]


def test_a_path_goes_on_where_time_limits_stopped_it(data, tmp_path):
    file = tmp_path / "path"
    stopped_path(data, checkpoint=file)
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match=r"not complete for \d+ of 9 sizes"):
            path = sparse_path(*data, k_max=8, time_limit=0.0, resume=file)
        assert "time_limit" in {result.status for result in path}
    same(sparse_path(*data, k_max=8, resume=file), sparse_path(*data, k_max=8))


def test_ctrl_c_leaves_a_checkpoint_of_a_path(data, tmp_path):
    def callback(progress):
        if progress.k == 6 and progress.nodes > 3:
            raise KeyboardInterrupt

    file = tmp_path / "path"
    with pytest.raises(SolveInterrupted) as interrupted:
        sparse_path(*data, k_max=8, checkpoint=file, callback=callback)
    results = interrupted.value.results
    assert [result.k for result in results] == list(range(7))
    resumed = sparse_path(*data, k_max=8, resume=file)
    same(resumed, sparse_path(*data, k_max=8))
    assert [result.nodes for result in resumed[:6]] == [result.nodes for result in results[:6]]
    assert resumed[6].nodes > results[6].nodes > 3


def test_checkpoints_are_written_while_a_path_runs(few, tmp_path):
    file, seen = tmp_path / "path", {}

    def callback(progress):
        if file.exists():
            seen.setdefault(progress.k, file.read_bytes())

    whole = sparse_path(*few, k_max=8, checkpoint=file, checkpoint_every=0.0, callback=callback)
    assert {6, 7, 8} <= set(seen)
    for state in seen.values():
        (tmp_path / "seen").write_bytes(state)
        same(sparse_path(*few, k_max=8, resume=tmp_path / "seen", n_jobs=2), whole)


def test_a_resumed_path_has_its_rules_lists_and_prices(data, tmp_path):
    options = {"include": [9], "groups": [[0, 1], [2, 3]], "nonnegative": [4, 5], "top": 3, "prices": True}
    with pytest.warns(ConvergenceWarning, match="The proof is not complete for"):
        sparse_path(*data, k_max=4, node_limit=1, checkpoint=tmp_path / "path", **options)
    resumed = sparse_path(*data, k_max=4, resume=tmp_path / "path", verbose=1, **options)
    whole = sparse_path(*data, k_max=4, **options)
    same(resumed, whole)
    for result, expected in zip(resumed, whole, strict=True):
        models = [model.objective for model in result.solutions]
        assert models == pytest.approx([model.objective for model in expected.solutions], rel=1e-12)
        costs = [price.cost for price in result.prices()]
        assert costs == pytest.approx([price.cost for price in expected.prices()], rel=1e-9)
