"""Runs l0star through its command. Standard library only."""

import json
import subprocess
import sys
from dataclasses import dataclass

from peers import ROOT


@dataclass(frozen=True)
class Entry:
    """One way in which l0star races."""

    method: str = "best-first"
    # It is told the same bound M of the coefficients as the peers that need one.
    assumes: bool = False
    # It solves the problem of penalised peers: a price on every non-zero, and no k.
    penalised: bool = False


ENTRIES = {
    "l0star": Entry(),
    "l0star-m": Entry(assumes=True),
    "l0star-m-price": Entry(assumes=True, penalised=True),
    "paper": Entry(method="paper"),
}


def build():
    """Builds the command in the release profile and returns its path."""
    print("==> l0star, release profile", file=sys.stderr)
    build = ["cargo", "build", "--quiet", "--release", "--package", "l0star-cli", "--message-format=json"]
    ended = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    for line in ended.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "l0star":
            return message["executable"]
    raise SystemExit("cargo built no l0star")


def stability(l0star, request, resamples):
    """Returns the command's report on the best models of the resamples, on one thread."""
    arguments = [l0star, "stability", request["matrix"], "--target", "b", "--no-intercept", "--no-standardize"]
    arguments += ["--json", "--quiet", "--threads", "1", "--resamples", str(resamples)]
    arguments += ["-k", str(request["k"]), "--ridge", repr(request["ridge"])]
    return spoken(arguments)["stability"]


def spoken(arguments):
    """Returns the command's JSON object; a limit may have stopped the search."""
    ended = subprocess.run(arguments, stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 4):
        raise SystemExit(f"l0star failed with code {ended.returncode}: {' '.join(arguments)}")
    return json.loads(ended.stdout)


def fit(l0star, request, k=None, features=None, method="best-first", bound=None, price=None):
    """The command's JSON object; an exact search on one thread.

    `bound` is assumed of all coefficients; `price` is that of a non-zero, in place of k, and not part of the objective returned.
    """
    arguments = [l0star, "fit", request["matrix"], "--target", "b", "--no-intercept", "--no-standardize"]
    arguments += ["--json", "--threads", "1", "--huber-delta", repr(request.get("huber_delta") or 1.0)]
    arguments += ["--loss", request["loss"]]
    arguments += ["-k", str(request["k"] if k is None else k)] if price is None else ["--l0-penalty", repr(price)]
    arguments += ["--ridge", repr(request["ridge"]), "--time-limit", f"{request['time_limit']}s"]
    arguments += ["--gap", repr(request.get("gap") or 0.0), "--method", method]
    if request.get("relative_gap"):
        arguments += ["--relative-gap", repr(request["relative_gap"])]
    if bound is not None:
        arguments += ["--assume-max-coefficient", repr(bound)]
    if features is not None:
        arguments += ["--features", ",".join(f"x{j + 1}" for j in features)]
    answer = spoken(arguments)
    answer["coefficients"] = {int(name[1:]) - 1: x for name, x in answer["coefficients"].items()}
    answer["objective"] -= (price or 0.0) * len(answer["coefficients"])
    return answer


def version(l0star):
    return subprocess.run([l0star, "--version"], check=True, capture_output=True, text=True).stdout.strip()
