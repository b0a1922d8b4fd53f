"""Settings that must be made before any import, and a cluster for the tests that need one."""

import os
import signal

import pytest

# A shell starts its background jobs with SIGINT ignored. Python then installs no handler, and tests of Ctrl-C would
# hang.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Without this variable scikit-learn skips its check of array API input; SciPy reads it only once.
os.environ["SCIPY_ARRAY_API"] = "1"
# Plots are drawn, not shown.
os.environ["MPLBACKEND"] = "agg"


def pytest_configure(config):
    # Most test data are random and small, or deliberately badly scaled; test_warnings tests the warnings.
    config.addinivalue_line("filterwarnings", "ignore::l0star.L0starWarning")


@pytest.fixture(scope="session")
def cluster():
    import dask
    from distributed import LocalCluster

    # Killed workers may take any time to restart.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    # Any free port, since another cluster may be running; None would mean the default port.
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        # Workers that an earlier test killed may still be restarting.
        client.wait_for_workers(2)
        yield client
