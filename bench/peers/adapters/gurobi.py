"""Gurobi with the formulations of Bertsimas et al. 2016 (big M, SOS1) and the perspective one.

The licence that comes with the package allows 200 variables in quadratic models.
"""

import common
import gurobipy as gp
from gurobipy import GRB
from mip import Quadratic

LICENCE = 200
STATUS = {GRB.OPTIMAL: "optimal", GRB.TIME_LIMIT: "time_limit"}


def solve(request):
    env = gp.Env(params={"OutputFlag": 0})
    problem = Quadratic(request)
    kinds = 3 if request.formulation == "perspective" else 2
    problem.screen(LICENCE // kinds)
    model, z = build(problem, env)
    model.Params.TimeLimit = request.time_limit
    with common.Timer() as timer:
        model.optimize()
    if model.SolCount == 0:
        return {"status": "failed", "note": f"Gurobi ends with status {model.Status} and no solution"}
    chosen = [1 - v.X if request.formulation == "sos1" else v.X for v in z]
    return {
        "status": STATUS.get(model.Status, "failed"),
        "coefficients": common.refitted(request, problem.support(chosen)),
        "lower_bound": model.ObjBound / problem.scale,
        "nodes": int(model.NodeCount),
        "seconds": timer.seconds,
        "version": "Gurobi " + ".".join(map(str, gp.gurobi.version())),
        "note": problem.note,
    }


def build(problem, env):
    request, d, scale = problem.request, problem.size, problem.scale
    model = gp.Model(env=env)
    model.Params.Threads = 1
    model.Params.MIPGap = 0 if request.gap > 0 else request.tolerance
    model.Params.MIPGapAbs = request.gap * scale
    model.Params.IntFeasTol = model.Params.FeasibilityTol = model.Params.OptimalityTol = 1e-9
    boxes = problem.boxes()
    start = problem.start_values()
    x = model.addMVar(d, lb=-boxes, ub=boxes)
    z = model.addMVar(d, vtype=GRB.BINARY)
    x.Start = start
    z.Start = (start == 0) if request.formulation == "sos1" else (start != 0)
    quadratic = problem.G if request.formulation == "perspective" else problem.H
    # The constant, which is 1 after scaling, makes a relative gap one of P.
    objective = 1 + scale * (0.5 * (x @ quadratic @ x) - problem.c @ x)
    if request.formulation == "sos1":
        model.addConstr(z.sum() >= d - request.k)
        for i in range(d):
            model.addSOS(GRB.SOS_TYPE1, [x[i].item(), z[i].item()])
    else:
        model.addConstr(z.sum() <= request.k)
        model.addConstr(x <= boxes * z)
        model.addConstr(x >= -boxes * z)
    if request.formulation == "perspective":
        s = model.addMVar(d)
        s.Start = start**2
        for i in range(d):
            model.addConstr(x[i] * x[i] <= s[i] * z[i])
        objective = objective + scale * problem.ridge / 2 * s.sum()
    model.setObjective(objective)
    model.update()
    return model, z.tolist()


common.main(solve)
