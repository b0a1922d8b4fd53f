"""The peers in the race, and the virtual environments they need. Standard library only."""

import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / "target" / "peers"
# Seconds in which an adapter may start and compile before its first answer.
START = 300
# Seconds beyond the limit of the solver in which an adapter may read and build its model, for every answer.
GRACE = 60
# Memory limit of a peer in bytes, unless a family sets another.
MEMORY = 8 << 30
ALL_LOSSES = ("quadratic", "huber", "logistic")


class NotThere(Exception):
    """A peer whose environment is not set up."""


@dataclass(frozen=True)
class Peer:
    name: str
    adapter: str
    # The name of its requirements, or None if it uses a program of the system.
    environment: str | None
    formulation: str | None = None
    exact: bool = True
    # Whether it solves an easier problem: a price on every non-zero instead of at most k of them.
    penalised: bool = False
    # Whether it is given a bound M on the coefficients, which is unknown before the problem is solved.
    assumes: bool = False
    losses: tuple[str, ...] = ("quadratic",)


PEERS = [
    Peer("gurobi-bigm", "gurobi.py", "mip", "bigm"),
    Peer("gurobi-sos1", "gurobi.py", "mip", "sos1"),
    Peer("gurobi-perspective", "gurobi.py", "mip", "perspective"),
    Peer("gurobi-cuts", "gurobi_cuts.py", "mip"),
    Peer("cplex-bigm", "cplex_mip.py", "mip", "bigm"),
    Peer("cplex-perspective", "cplex_mip.py", "mip", "perspective"),
    Peer("scip-bigm", "scip.py", "mip", "bigm"),
    Peer("scip-perspective", "scip.py", "mip", "perspective"),
    Peer("okridge", "okridge_bnb.py", "okridge"),
    Peer("l0bnb", "l0bnb_path.py", "l0bnb", penalised=True, assumes=True),
    Peer("el0ps", "el0ps_bnb.py", "el0ps", penalised=True, losses=ALL_LOSSES),
    Peer("el0ps-m", "el0ps_bnb.py", "el0ps", "bigm", penalised=True, assumes=True, losses=ALL_LOSSES),
    Peer("leaps", "leaps.py", None),
    Peer("abess", "abess_fit.py", "inexact", exact=False, losses=("quadratic", "logistic")),
    Peer("skscope", "skscope_fit.py", "inexact", exact=False, losses=ALL_LOSSES),
]
BY_NAME = {peer.name: peer for peer in PEERS}


def requirements(name):
    return HERE / "requirements" / f"{name}.txt"


def python_of(peer):
    """Returns the interpreter that runs a peer's adapter."""
    if peer.environment is None:
        if shutil.which("Rscript") is None:
            raise NotThere(f"{peer.name} is not there: install R and its package leaps (Debian: r-cran-leaps)")
        return pathlib.Path(sys.executable)
    return python_in(peer.environment)


def python_in(environment):
    """Returns the interpreter of a virtual environment."""
    folder = ENVIRONMENTS / environment
    stamp = folder / "stamp"
    wanted = requirements(environment).read_text(encoding="utf-8")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        names = " ".join(peer.name for peer in PEERS if peer.environment == environment)
        raise NotThere(f"{environment} is not set up; run: python3 bench/peers/run.py setup {names}")
    return folder / "bin" / "python"


def set_up(peer):
    """Creates the environment of a peer, unless it exists."""
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


class Team:
    """The adapters, which are kept running so that they compile their code only once."""

    def __init__(self):
        self.workers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers.values():
            worker.end()

    def ask(self, peer, request, folder):
        """Returns a peer's answer to a request (a dict); failures are answers too."""
        path = pathlib.Path(folder) / f"{peer.name}.json"
        path.write_text(json.dumps({**request, "formulation": peer.formulation}), encoding="utf-8")
        memory = request.get("memory") or MEMORY
        worker = self.workers.get(peer.name)
        if worker is not None and worker.memory != memory:
            worker.end()
            worker = None
        worker = worker or Worker(peer, memory)
        self.workers[peer.name] = worker
        answer = worker.ask(path, request["time_limit"])
        if worker.process.poll() is not None:
            del self.workers[peer.name]
        answer["coefficients"] = {int(j): x for j, x in (answer.get("coefficients") or {}).items()}
        return answer


class Worker:
    """The process of one adapter."""

    def __init__(self, peer, memory=MEMORY):
        self.memory = memory
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(python_of(peer)), str(HERE / "adapters" / peer.adapter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: limit_memory(memory),
        )
        self.grace = START + GRACE

    def ask(self, path, time_limit):
        try:
            self.process.stdin.write(f"{path}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"status": "failed", "note": self.last_words()}
        ready, _, _ = select.select([self.process.stdout], [], [], time_limit + self.grace)
        self.grace = GRACE
        if not ready:
            self.end()
            return {"status": "time_limit", "seconds": time_limit, "note": "killed, no model"}
        line = self.process.stdout.readline()
        if not line:
            return {"status": "failed", "note": self.last_words()}
        return json.loads(line)

    def last_words(self):
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        ended = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"{ended}: {said[-1][:200]}" if said else ended

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            stream.close()


def limit_memory(memory):
    """Limits the memory of the new process, in which it is called; outside POSIX there is no limit."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):
        pass
