"""Importing the package is fast and prints nothing."""

import subprocess
import sys
import textwrap

#: Packages that only some calls need: they are slow to import, and some of them warn.
LATER = ("tqdm", "pandas", "polars", "pyarrow", "matplotlib", "dask", "statsmodels")


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


def test_packages_that_only_some_calls_need_are_imported_by_those():
    # scikit-learn itself imports some of these packages.
    code = f"""
        import sys, sklearn.model_selection
        before = set(sys.modules)
        import l0star
        print([name for name in {LATER} if name in set(sys.modules) - before])
    """
    done = run(textwrap.dedent(code))
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_call_without_a_progress_bar_does_not_look_for_widgets():
    code = """
        import sys, l0star, numpy as np
        X = np.eye(12)[:, :4]
        l0star.stability(X, X[:, 1], k=1, resamples=3)
        print("tqdm.auto" in sys.modules)
    """
    done = run(textwrap.dedent(code))
    assert (done.stdout, done.stderr) == ("False\n", "")
