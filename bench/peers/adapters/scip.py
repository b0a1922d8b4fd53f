"""SCIP, with big M and with the perspective formulation; its objective is linear, so the quadratic is a constraint."""

import common
import numpy as np
import pyscipopt as scip
from mip import Quadratic

STATUS = {"optimal": "optimal", "gaplimit": "optimal", "timelimit": "time_limit"}


def solve(request):
    problem = Quadratic(request)
    # Dense models larger than this are hopeless.
    problem.reduce(200)
    model, z = build(problem)
    model.setParam("limits/time", request.time_limit)
    with common.Timer() as timer:
        model.optimize()
    if model.getNSols() == 0:
        return {"status": "failed", "note": f"SCIP ends with {model.getStatus()} and no solution"}
    return {
        "status": STATUS.get(model.getStatus(), "failed"),
        "coefficients": common.refitted(request, problem.support([model.getVal(v) for v in z])),
        "lower_bound": model.getDualbound() / problem.scale,
        "nodes": int(model.getNTotalNodes()),
        "seconds": timer.seconds,
        "version": f"SCIP {model.version()}",
        "note": problem.note,
    }


def build(problem):
    request, d, scale = problem.request, problem.size, problem.scale
    perspective = request.formulation == "perspective"
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/gap", 0 if request.gap > 0 else request.tolerance)
    model.setParam("limits/absgap", request.gap * scale)
    # With a tighter tolerance it hardly leaves the root.
    model.setParam("numerics/feastol", 1e-6)
    model.setParam("lp/threads", 1)
    boxes = problem.boxes()
    x = [model.addVar(lb=-m, ub=m) for m in boxes]
    z = [model.addVar(vtype="B") for _ in range(d)]
    model.addCons(scip.quicksum(z) <= request.k)
    for i in range(d):
        model.addCons(x[i] <= boxes[i] * z[i])
        model.addCons(x[i] >= -boxes[i] * z[i])
    # x'Qx = |y|^2 with y = L'x.
    values, vectors = np.linalg.eigh(problem.G if perspective else problem.H)
    root = vectors * np.sqrt(np.maximum(values, 0))
    y = [model.addVar(lb=None) for _ in range(d)]
    for j in range(d):
        model.addCons(scip.quicksum(root[i, j] * x[i] for i in range(d)) == y[j])
    t = model.addVar(lb=0)
    model.addCons(scip.quicksum(v * v for v in y) <= t)
    # The constant, which is 1 after scaling, makes a relative gap one of P.
    objective = 1 + scale / 2 * t - scale * scip.quicksum(problem.c[i] * x[i] for i in range(d))
    s = []
    if perspective:
        s = [model.addVar(lb=0) for _ in range(d)]
        for i in range(d):
            model.addCons(x[i] * x[i] <= s[i] * z[i])
        objective += scale * problem.ridge / 2 * scip.quicksum(s)
    model.setObjective(objective)
    start(problem, model, x, z, y, t, s, root)
    return model, z


def start(problem, model, x, z, y, t, s, root):
    values = problem.start_values()
    products = root.T @ values
    solution = model.createSol()
    for i, value in enumerate(values):
        model.setSolVal(solution, x[i], value)
        model.setSolVal(solution, z[i], float(value != 0))
        model.setSolVal(solution, y[i], products[i])
        if s:
            model.setSolVal(solution, s[i], value**2)
    model.setSolVal(solution, t, products @ products)
    model.addSol(solution)


common.main(solve)
