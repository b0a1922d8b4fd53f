"""l0star through its own command. Standard library only."""

import json
import subprocess
import sys

import formula
from peers import ROOT


def build():
    """The command, built in the release profile."""
    print("==> l0star, release profile", file=sys.stderr)
    build = ["cargo", "build", "--quiet", "--release", "--package", "l0star-cli", "--message-format=json"]
    ended = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    for line in ended.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "l0star":
            return message["executable"]
    raise SystemExit("cargo built no l0star")


# A list of bounds is cut into options of this many columns: the system limits the length of one.
COLUMNS = 2000
# More columns do not fit on a command line.
MOST_COLUMNS = 50_000


def stability(l0star, request, resamples):
    """What the command says of the best models of so many resamples, on one thread."""
    arguments = [l0star, "stability", request["matrix"], "--target", "b", "--no-intercept", "--no-standardize"]
    arguments += ["--json", "--quiet", "--threads", "1", "--resamples", str(resamples)]
    arguments += ["-k", str(request["k"]), "--ridge", repr(request["ridge"])]
    return spoken(arguments)["stability"]


def spoken(arguments):
    """The command's JSON object, of a search that may have been stopped at a limit."""
    ended = subprocess.run(arguments, stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 4):
        raise SystemExit(f"l0star failed with code {ended.returncode}: {' '.join(arguments)}")
    return json.loads(ended.stdout)


def fit(l0star, request, k=None, features=None, method="best-first", bound=None):
    """The command's JSON object; an exact search on one thread. `bound`: of all coefficients, as `--bounds`."""
    arguments = [l0star, "fit", request["matrix"], "--target", "b", "--no-intercept", "--no-standardize"]
    arguments += ["--json", "--threads", "1", "--huber-delta", repr(request.get("huber_delta") or 1.0)]
    arguments += ["-k", str(request["k"] if k is None else k), "--loss", request["loss"]]
    arguments += ["--ridge", repr(request["ridge"]), "--time-limit", f"{request['time_limit']}s"]
    arguments += ["--gap", repr(request.get("gap") or 0.0), "--method", method]
    if request.get("relative_gap"):
        arguments += ["--relative-gap", repr(request["relative_gap"])]
    if bound is not None:
        columns = formula.Matrix(request["matrix"]).columns - 1
        if columns > MOST_COLUMNS:
            return {"status": "unsupported", "note": f"{columns} columns are too many for --bounds"}
        for first in range(1, columns + 1, COLUMNS):
            some = range(first, min(first + COLUMNS, columns + 1))
            arguments += ["--bounds", ",".join(f"x{j}={-bound!r}:{bound!r}" for j in some)]
    if features is not None:
        arguments += ["--features", ",".join(f"x{j + 1}" for j in features)]
    answer = spoken(arguments)
    answer["coefficients"] = {int(name[1:]) - 1: x for name, x in answer["coefficients"].items()}
    return answer


def version(l0star):
    return subprocess.run([l0star, "--version"], check=True, capture_output=True, text=True).stdout.strip()
