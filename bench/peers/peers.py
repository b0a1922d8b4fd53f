"""Who races, and the virtual environments they need. Standard library only."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / "target" / "peers"
# An adapter may read and start for so long beyond the limit of the solver.
GRACE = 120


class NotThere(Exception):
    """A peer whose environment is not set up."""


@dataclass(frozen=True)
class Peer:
    name: str
    adapter: str
    # The name of its requirements, or None where a program of the system does it.
    environment: str | None
    formulation: str | None = None
    exact: bool = True
    # It solves another, easier problem: a price on every non-zero, instead of at most k of them.
    penalised: bool = False


PEERS = [
    Peer("gurobi-bigm", "gurobi.py", "mip", "bigm"),
    Peer("gurobi-sos1", "gurobi.py", "mip", "sos1"),
    Peer("gurobi-perspective", "gurobi.py", "mip", "perspective"),
    Peer("cplex-bigm", "cplex_mip.py", "mip", "bigm"),
    Peer("cplex-perspective", "cplex_mip.py", "mip", "perspective"),
    Peer("scip-bigm", "scip.py", "mip", "bigm"),
    Peer("scip-perspective", "scip.py", "mip", "perspective"),
    Peer("okridge", "okridge_bnb.py", "okridge"),
    Peer("l0bnb", "l0bnb_path.py", "l0bnb", penalised=True),
    Peer("el0ps", "el0ps_bnb.py", "el0ps", penalised=True),
    Peer("leaps", "leaps.py", None),
    Peer("abess", "abess_fit.py", "inexact", exact=False),
    Peer("skscope", "skscope_fit.py", "inexact", exact=False),
]
BY_NAME = {peer.name: peer for peer in PEERS}


def requirements(name):
    return HERE / "requirements" / f"{name}.txt"


def python_of(peer):
    """The interpreter that runs a peer's adapter."""
    if peer.environment is None:
        if shutil.which("Rscript") is None:
            raise NotThere(f"{peer.name} is not there: install R and its package leaps (Debian: r-cran-leaps)")
        return pathlib.Path(sys.executable)
    folder = ENVIRONMENTS / peer.environment
    stamp = folder / "stamp"
    wanted = requirements(peer.environment).read_text(encoding="utf-8")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        raise NotThere(f"{peer.name} is not set up; run: python3 bench/peers/run.py setup {peer.name}")
    return folder / "bin" / "python"


def set_up(peer):
    """Makes the environment of a peer, unless it is there."""
    try:
        python_of(peer)
        return
    except NotThere as reason:
        if peer.environment is None:
            print(f"  {reason}", file=sys.stderr)
            return
    folder = ENVIRONMENTS / peer.environment
    print(f"==> {peer.environment}: virtual environment and packages", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    wanted = requirements(peer.environment)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", str(wanted)], check=True)
    (folder / "stamp").write_text(wanted.read_text(encoding="utf-8"), encoding="utf-8")


def ask(peer, request, folder):
    """A peer's answer to a request (a dict); failures are answers too."""
    python = python_of(peer)
    path = pathlib.Path(folder) / f"{peer.name}.json"
    path.write_text(json.dumps({**request, "formulation": peer.formulation}), encoding="utf-8")
    try:
        ended = subprocess.run(
            [str(python), str(HERE / "adapters" / peer.adapter), str(path)],
            capture_output=True,
            text=True,
            timeout=request["time_limit"] + GRACE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        return {"status": "time_limit", "seconds": request["time_limit"], "note": "killed, no model"}
    lines = ended.stdout.strip().splitlines()
    if not lines:
        said = ended.stderr.strip().splitlines()
        return {"status": "failed", "note": said[-1] if said else f"exit code {ended.returncode}"}
    answer = json.loads(lines[-1])
    answer["coefficients"] = {int(j): x for j, x in (answer.get("coefficients") or {}).items()}
    return answer
