"""Settings that must be in place before anything is imported, and a cluster for the tests that need one."""

import os
import signal

import pytest

# A shell starts its background jobs with SIGINT ignored, and Python then installs no handler:
# tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# scikit-learn skips its check of array API input without it, and SciPy reads it once.
os.environ["SCIPY_ARRAY_API"] = "1"
# Plots are drawn, not shown.
os.environ["MPLBACKEND"] = "agg"


def pytest_configure(config):
    # Most data here are random and small, or have scales of their own; test_warnings asks for the warnings.
    config.addinivalue_line("filterwarnings", "ignore::l0star.L0starWarning")


@pytest.fixture(scope="session")
def cluster():
    import dask
    from distributed import LocalCluster

    # Workers that are killed may take as long as they like to come back.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    # Any free port: another cluster may run beside it, and None would mean the usual one.
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        # Those that an earlier test has killed are on their way back.
        client.wait_for_workers(2)
        yield client
