"""What has to hold before anything is imported."""

import os

# scikit-learn skips its check of array API input without it, and SciPy reads it once.
os.environ["SCIPY_ARRAY_API"] = "1"
# Plots are drawn, not shown.
os.environ["MPLBACKEND"] = "agg"


def pytest_configure(config):
    # Most data here are random and small, or have scales of their own; test_warnings asks for the warnings.
    config.addinivalue_line("filterwarnings", "ignore::l0star.L0starWarning")
