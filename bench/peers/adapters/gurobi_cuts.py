"""Gurobi with lazy cuts (outer approximation; Bertsimas and Van Parys 2020), with binary variables only.

    minimise  eta  with  eta >= f(z') + f'(z')(z - z')  for every z' examined so far,  sum z <= k

f(z) = 1/2 b'(nI + A diag(z) A'/ridge)^-1 b is the least P on the support z, convex in z between 0 and 1: the
perspective relaxation without x. Its slope in z_i is -u_i^2/(2 ridge), u = A'(b - Ax)/n at the x that attains it. The
model is linear with d + 1 variables; the licence that comes with the package allows 2000.
"""

import common
import gurobipy as gp
import numpy as np
from gurobipy import GRB
from mip import Quadratic, shares

LICENCE = 2000
STATUS = {GRB.OPTIMAL: "optimal", GRB.TIME_LIMIT: "time_limit"}
# Least relative increase of eta by a cut that is added, at sets of features and at fractional points.
LEAST = 1e-7
LEAST_INSIDE = 1e-3
# Number of cuts before the search, at the optimum of the relaxation and on the way to it.
FIRST_CUTS = 30


class Cuts:
    """The function f and its slope, times the scale of the model."""

    def __init__(self, problem):
        self.problem = problem

    def at(self, z):
        problem = self.problem
        x = relaxed_fit(problem, z)
        u = problem.c - problem.G @ x
        value = problem.constant - problem.c @ x / 2
        return problem.scale * value, -problem.scale * u**2 / (2 * problem.ridge), x


def relaxed_fit(problem, z):
    """Returns the x that attains f(z): least squares with the ridge ridge/z_i."""
    x = np.zeros(problem.size)
    inside = np.flatnonzero(z > 1e-9)
    gram = problem.G[np.ix_(inside, inside)] + np.diag(problem.ridge / z[inside])
    x[inside] = np.linalg.solve(gram, problem.c[inside])
    return x


def solve(request):
    env = gp.Env(params={"OutputFlag": 0})
    problem = Quadratic(request)
    problem.screen(LICENCE - 1)
    cuts, d = Cuts(problem), problem.size
    model = gp.Model(env=env)
    model.Params.Threads = 1
    model.Params.LazyConstraints = 1
    model.Params.MIPGap = 0 if request.gap > 0 else request.tolerance
    model.Params.MIPGapAbs = request.gap * problem.scale
    model.Params.IntFeasTol = model.Params.FeasibilityTol = model.Params.OptimalityTol = 1e-9
    model.Params.TimeLimit = request.time_limit
    z = model.addMVar(d, vtype=GRB.BINARY)
    eta = model.addVar(obj=1.0)
    model.addConstr(z.sum() <= request.k)
    start = problem.start_values()
    z.Start = start != 0
    eta.Start = problem.scale * problem.upper * (1 + LEAST)
    with common.Timer() as timer:
        point = np.full(d, request.k / d)
        for _ in range(FIRST_CUTS):
            value, slope, x = cuts.at(point)
            model.addConstr(eta >= value - slope @ point + slope @ z)
            point = shares(np.abs(x), request.k)
        value, slope, _ = cuts.at((start != 0).astype(float))
        model.addConstr(eta >= value - slope @ (start != 0) + slope @ z)
        variables = [*z.tolist(), eta]
        model.optimize(lambda model, where: callback(model, where, variables, cuts))
    if model.SolCount == 0:
        return {"status": "failed", "note": f"Gurobi ends with status {model.Status} and no solution"}
    return {
        "status": STATUS.get(model.Status, "failed"),
        "coefficients": common.refitted(request, problem.support(z.X)),
        "lower_bound": model.ObjBound / problem.scale,
        "nodes": int(model.NodeCount),
        "seconds": timer.seconds,
        "version": "Gurobi " + ".".join(map(str, gp.gurobi.version())),
        "note": problem.note,
    }


def callback(model, where, variables, cuts):
    """Adds cuts at every proposed set of features, and at fractional points of nodes whose bound they raise."""
    if where == GRB.Callback.MIPSOL:
        values = np.array(model.cbGetSolution(variables))
        values[:-1] = np.round(values[:-1])
        least = LEAST
    elif where == GRB.Callback.MIPNODE and model.cbGet(GRB.Callback.MIPNODE_STATUS) == GRB.OPTIMAL:
        values = np.clip(model.cbGetNodeRel(variables), 0, None)
        least = LEAST_INSIDE
    else:
        return
    z, eta = values[:-1], values[-1]
    value, slope, _ = cuts.at(z)
    if eta < value * (1 - least):
        terms = gp.LinExpr(slope.tolist(), variables[:-1])
        model.cbLazy(variables[-1] >= float(value - slope @ z) + terms)


common.main(solve)
