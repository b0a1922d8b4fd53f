"""CPLEX, community edition (1000 variables, 1000 constraints), with big M and with the perspective formulation."""

import common
import cplex
from mip import Quadratic

LICENCE = 1000


def solve(request):
    problem = Quadratic(request)
    # There are 2d or 3d variables, and one more constraint than variables.
    problem.screen((LICENCE - 1) // (3 if request.formulation == "perspective" else 2))
    model = build(problem)
    model.parameters.timelimit.set(request.time_limit)
    with common.Timer() as timer:
        model.solve()
    if not model.solution.is_primal_feasible():
        return {"status": "failed", "note": model.solution.get_status_string()}
    d = problem.size
    text = model.solution.get_status_string()
    return {
        "status": "optimal" if "optimal" in text else "time_limit" if "time" in text else "failed",
        "coefficients": common.refitted(request, problem.support(model.solution.get_values(list(range(d, 2 * d))))),
        "lower_bound": model.solution.MIP.get_best_objective() / problem.scale,
        "nodes": model.solution.progress.get_num_nodes_processed(),
        "seconds": timer.seconds,
        "version": f"CPLEX {model.get_version()}",
        "note": problem.note,
    }


def build(problem):
    request, d, scale = problem.request, problem.size, problem.scale
    perspective = request.formulation == "perspective"
    model = cplex.Cplex()
    for stream in (model.set_log_stream, model.set_results_stream, model.set_warning_stream, model.set_error_stream):
        stream(None)
    model.parameters.threads.set(1)
    model.parameters.mip.tolerances.mipgap.set(0 if request.gap > 0 else request.tolerance)
    model.parameters.mip.tolerances.absmipgap.set(request.gap * scale)
    model.parameters.mip.tolerances.integrality.set(1e-9)
    model.parameters.simplex.tolerances.feasibility.set(1e-9)
    boxes = [float(m) for m in problem.boxes()]
    x, z, s = range(d), range(d, 2 * d), range(2 * d, 3 * d)
    model.variables.add(lb=[-m for m in boxes], ub=boxes, obj=[float(-scale * c) for c in problem.c])
    model.variables.add(types=["B"] * d)
    if perspective:
        model.variables.add(lb=[0.0] * d, obj=[scale * problem.ridge / 2] * d)
    rows = [[list(z), [1.0] * d]]
    rows += [[[x[i], z[i]], [1.0, -boxes[i]]] for i in range(d)]
    rows += [[[x[i], z[i]], [-1.0, -boxes[i]]] for i in range(d)]
    model.linear_constraints.add(lin_expr=rows, senses="L" * len(rows), rhs=[float(request.k)] + [0.0] * (2 * d))
    H = scale * (problem.G if perspective else problem.H)
    # The constant, which is 1 after scaling, makes a relative gap one of P.
    model.objective.set_offset(1.0)
    empty = [[[], []]] * (model.variables.get_num() - d)
    model.objective.set_quadratic([[list(x), [float(v) for v in row]] for row in H] + empty)
    if perspective:
        for i in range(d):
            model.quadratic_constraints.add(quad_expr=[[x[i], s[i]], [x[i], z[i]], [1.0, -1.0]], sense="L", rhs=0.0)
    values = [float(v) for v in problem.start_values()]
    start = values + [float(v != 0) for v in values] + ([v * v for v in values] if perspective else [])
    model.MIP_starts.add([list(range(len(start))), start], model.MIP_starts.effort_level.auto)
    return model


common.main(solve)
