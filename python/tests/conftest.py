"""What has to hold before anything is imported."""

import os

# scikit-learn skips its check of array API input without it, and SciPy reads it once.
os.environ["SCIPY_ARRAY_API"] = "1"
# Plots are drawn, not shown.
os.environ["MPLBACKEND"] = "agg"
