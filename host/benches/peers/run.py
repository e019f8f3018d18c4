#!/usr/bin/env python3
"""Grey box against its peers: the same records, the same model, the same parameters, in one run.

    python3 host/benches/peers/run.py [--record furuta|decay] [--json]

Builds a virtual environment beside this file (numpy, scipy, casadi from PyPI) and the release binary if it is missing.

  furuta   20 s of a simulated Furuta pendulum, written by `stribeck simulate` and `stribeck export`, 200 samples/s;
           unknown: Coulomb and viscous friction of both joints, and the first state
  decay    a measured pendulum decay (cartpend_skov/test1pend2.csv in STRIBECK_DATA or ../shared/data beside the
           repository), skipped when it is not there; unknown: w0^2, Coulomb, viscous, quadratic, offset, first state

  stribeck `stribeck identify --method greybox`, start values its own
  casadi   direct multiple shooting as in CasADi's own system identification example: one node per sample, RK4 in SX with
           `map`, exact sparse derivatives, Gauss-Newton Hessian, IPOPT with MUMPS
  scipy    least_squares over odeint (LSODA), single shooting, finite differences

Both peers are started at the estimates of stribeck's `energy` method, so none of them has to search. All times are
CPU seconds of one thread. Solver: the optimisation alone (stribeck: the whole process, with start-up, reading and
checking the file). Set-up: building the graph, start values. The exit code is 1 when a ratio is below what is required
(10 for casadi, 20 for scipy).
"""

import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
ENV = os.path.join(HERE, ".venv")
REQUIRED = {"casadi": 10.0, "scipy": 20.0}
# stribeck's corner of the friction law where it is not estimated [rad/s].
VT = 0.02


def enter_venv():
    """Re-run this script inside its own environment, on one thread."""
    python = os.path.join(ENV, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(ENV):
        return
    try:
        import venv

        ready = os.path.exists(python) and subprocess.call([python, "-c", "import casadi, scipy"]) == 0
        if not ready:
            print("creating the environment (numpy, scipy, casadi) ...", file=sys.stderr)
            venv.create(ENV, with_pip=True, clear=True)
            subprocess.check_call([python, "-m", "pip", "-q", "install", "numpy", "scipy", "casadi"])
    except (ImportError, subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"the environment of the peers could not be made: {error}\n"
                 "needed: Python 3.9 or later with the venv module (Debian: apt install python3-venv), and PyPI within reach")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.execv(python, [python] + sys.argv)


# ---------------------------------------------------------------- models


class Numbers:
    """The functions a model needs, on floats."""

    sin, cos, tanh, sqrt, fabs = math.sin, math.cos, math.tanh, math.sqrt, math.fabs


def furuta(q0, q1, w0, w1, p, m):
    """Accelerations of the tilted Furuta pendulum of paper 000, docs/theory.md sections 1 to 3."""
    m1, m2, j1z, j2, j2z, l1, l2, arm, g = 0.370, 0.128, 3.09e-3, 5.25e-3, 2.91e-6, 0.062, 0.062, 0.216, 9.81
    sp, cp = math.sin(math.pi / 4), math.cos(math.pi / 4)
    s0, c0, s1, c1 = m.sin(q0), m.cos(q0), m.sin(q1), m.cos(q1)
    k = m2 * l2 * l2 + j2 - j2z
    h00 = j1z + m1 * l1 * l1 + m2 * arm * arm + (m2 * l2 * l2 + j2) * s1 * s1 + j2z * c1 * c1
    h01 = -m2 * l2 * arm * c1
    h11 = j2 + m2 * l2 * l2
    b0 = 2 * k * s1 * c1 * w0 * w1 + m2 * l2 * arm * s1 * w1 * w1
    b1 = -k * s1 * c1 * w0 * w0
    g0 = (m1 * l1 + m2 * arm) * g * s0 * sp - m2 * g * l2 * s1 * c0 * sp
    g1 = -m2 * g * l2 * (s0 * c1 * sp - s1 * cp)
    det = h00 * h11 - h01 * h01
    e0 = (h01 * (b1 + g1) - h11 * (b0 + g0)) / det
    e1 = (h01 * (b0 + g0) - h00 * (b1 + g1)) / det
    rx = m2 * (-arm * w0 * w0 + l2 * s1 * e0 + 2 * l2 * c1 * w0 * w1 - g * sp * c0)
    ry = m2 * (arm * e0 - l2 * c1 * e1 + l2 * s1 * (w0 * w0 + w1 * w1) + g * sp * s0)
    rz = -m2 * (g * cp + l2 * (s1 * e1 + c1 * w1 * w1))
    n1 = m.sqrt(rx * rx + ry * ry + rz * rz)
    ax = rx - m1 * (g * sp * c0 + l1 * w0 * w0)
    ay = ry + m1 * (l1 * e0 + g * sp * s0)
    az = rz - m1 * g * cp
    n0 = m.sqrt(ax * ax + ay * ay + az * az)
    f0 = n0 * p[0] * m.tanh(4 * w0 / VT) + p[1] * w0
    f1 = n1 * p[2] * m.tanh(4 * w1 / VT) + p[3] * w1
    return [e0 - (h11 * f0 - h01 * f1) / det, e1 - (h00 * f1 - h01 * f0) / det]


def pendulum(q, w, p, m):
    """Acceleration of a pendulum; p = w0^2, c, b, d, offset, all per inertia."""
    return [-p[0] * m.sin(q) - p[1] * m.tanh(4 * w / VT) - p[2] * w - p[3] * w * m.fabs(w)]


# ---------------------------------------------------------------- records


class Case:
    """One record, its model and how stribeck is called on it."""

    def __init__(self, name, path, command, names, start, accelerate, joints, offset):
        self.name, self.path, self.command, self.names, self.start = name, path, command, names, start
        self.accelerate, self.joints, self.offset = accelerate, joints, offset

    def load(self, np):
        data = np.loadtxt(self.path, delimiter=",", skiprows=1)
        self.t, self.y = data[:, 0] - data[0, 0], data[:, 1 : 1 + self.joints]

    def rate(self, x, p, m):
        n = self.joints
        return list(x[n:]) + self.accelerate(*x, p, m)

    def reading(self, q, p):
        return q + p[4] if self.offset else q


def furuta_case(stribeck, folder):
    friction = lambda mu: f"mu_d={mu},mu_s={mu},mu_v=2.5e-4,vt={VT}"
    log, ticks, path = (os.path.join(folder, n) for n in ("run.mcap", "ticks.csv", "furuta.csv"))
    run = lambda *a: subprocess.run([stribeck, *a], check=True, capture_output=True)
    run("simulate", "--seconds", "20.5", "--joint0", friction(5e-4), "--joint1", friction(6e-4), "-o", log)
    run("export", log, "-o", ticks)
    with open(ticks) as source, open(path, "w") as out:
        rows = csv.reader(row for row in source if not row.startswith("#"))
        next(rows)
        out.write("t,arm,pendulum\n")
        # Held for 0.5 s; every 50th tick after that.
        for i, row in enumerate(rows):
            if i >= 5100 and i % 50 == 0:
                out.write(f"{float(row[2]) - 0.51:.4f},{row[7]},{row[8]}\n")
    command = [path, "--time", "1", "--angle", "2,3", "--plant", "furuta", "--no-trim", "--terms", "coulomb,viscous"]
    names = ["\u03bcd0", "\u03bcv0", "\u03bcd1", "\u03bcv1"]
    return Case("furuta", path, command, names, [5e-4, 2e-4, 5e-4, 2e-4], furuta, 2, False)


def decay_case(folder):
    root = os.environ.get("STRIBECK_DATA") or os.path.join(ROOT, "..", "shared", "data")
    source = os.path.join(root, "cartpend_skov", "test1pend2.csv")
    if not os.path.exists(source):
        print(f"decay: skipped, {source} is not there", file=sys.stderr)
        return None
    path = os.path.join(folder, "decay.csv")
    with open(source) as rows:
        rows = [[float(x) for x in row.split(",")] for row in rows if row.strip()]
    # The free motion: from the first turning point to rest, angle from hanging.
    turn = next(i for i in range(5, len(rows)) if abs(rows[i][2]) > 1.0)
    while rows[turn][1] != min(r[1] for r in rows[turn - 40 : turn + 40]):
        turn += 1
    rest = rows[-1][1]
    last = max(i for i, r in enumerate(rows) if abs(r[1] - rest) > 0.01)
    with open(path, "w") as out:
        out.write("t,angle\n")
        for r in rows[turn : last + 30]:
            out.write(f"{r[0] - rows[turn][0]:.5f},{r[1] - math.pi:.5f}\n")
    command = [path, "--time", "1", "--angle", "2", "--no-trim", "--reference", "hanging",
               "--terms", "coulomb,viscous,quadratic"]
    names = ["\u03c90\u00b2", "c/J", "b/J", "d/J", "offset"]
    return Case("decay", path, command, names, [48.0, 0.5, 0.01, 0.001, 0.0], pendulum, 1, True)


# ---------------------------------------------------------------- the three


def by_stribeck(case, stribeck):
    best = None
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([stribeck, "identify", *case.command, "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"stribeck identify failed: {done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        result = json.loads(done.stdout)[0]["results"][0]
        if best is None or used < best[0]:
            best = used, result
    used, result = best
    values = {e["name"]: e["value"] for e in result["estimates"]}
    return {"solver": used, "setup": 0.0, "estimates": [values[n] for n in case.names], "fit": result["fit_percent"]}


def warm_start(case, stribeck):
    """Estimates of the `energy` method; what it does not estimate stays at a rough guess."""
    command = [stribeck, "identify", *case.command[:-2], "--method", "energy", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    values = {}
    if done.returncode == 0:
        values = {e["name"]: e["value"] for e in json.loads(done.stdout)[0]["results"][0]["estimates"]}
    else:
        print(f"{case.name}: no estimates of the energy method: {done.stderr}", file=sys.stderr)
    return [values.get(n) or guess for n, guess in zip(case.names, case.start)]


def velocities(case, np):
    """Slope of a local parabola over 9 samples, per joint."""
    half = 4
    out = np.zeros_like(case.y)
    for i in range(len(case.t)):
        a, b = max(0, i - half), min(len(case.t), i + half + 1)
        for j in range(case.joints):
            out[i, j] = np.polyfit(case.t[a:b] - case.t[i], case.y[a:b, j], 2)[1]
    return out


def free_run(case, p, x0, np):
    from scipy.integrate import odeint

    run = odeint(lambda x, _: case.rate(x, p, Numbers), x0, case.t, rtol=1e-8, atol=1e-10, mxstep=100000)
    return case.reading(run[:, : case.joints], p)


def fit(case, run, np):
    return [float(100 * (1 - ((run[:, j] - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()))
            for j, y in enumerate(case.y.T)]


def by_casadi(case, start, np):
    import casadi as ca

    begin = time.process_time()
    n, npar, steps = 2 * case.joints, len(start), len(case.t)
    x, p, h = ca.SX.sym("x", n), ca.SX.sym("p", npar), ca.SX.sym("h")
    scale = np.array([abs(s) if s else 0.01 for s in start])
    rate = lambda x: ca.vertcat(*case.rate([x[i] for i in range(n)], p * scale, ca))
    substeps = 5
    z, d = x, h / substeps
    for _ in range(substeps):
        k1 = rate(z)
        k2 = rate(z + d / 2 * k1)
        k3 = rate(z + d / 2 * k2)
        k4 = rate(z + d * k3)
        z = z + d / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    one = ca.Function("one", [x, h, p], [z])
    nodes, par = ca.MX.sym("X", n, steps), ca.MX.sym("p", npar)
    spacing = ca.DM(np.diff(case.t)).T
    ends = one.map(steps - 1)(nodes[:, :-1], spacing, ca.repmat(par, 1, steps - 1))
    gaps = ca.vec(ends - nodes[:, 1:])
    weight = 1.0 / np.std(case.y, axis=0)
    read = nodes[: case.joints, :]
    if case.offset:
        read = read + par[4] * scale[4]
    residual = ca.vec((read - case.y.T) * ca.repmat(ca.DM(weight), 1, steps))
    unknown = ca.veccat(par, nodes)
    jacobian = ca.jacobian(residual, unknown)
    hessian = ca.triu(ca.mtimes(jacobian.T, jacobian))
    sigma, lam, none = ca.MX.sym("sigma"), ca.MX.sym("lam", gaps.shape[0]), ca.MX.sym("none", 0)
    hess = ca.Function("gauss_newton", {"x": unknown, "p": none, "lam_f": sigma, "lam_g": lam, "hess_gamma_x_x": sigma * hessian},
                       ["x", "p", "lam_f", "lam_g"], ["hess_gamma_x_x"])
    options = {"hess_lag": hess, "print_time": False,
               "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-8, "max_iter": 100, "linear_solver": "mumps"}}
    problem = {"x": unknown, "f": 0.5 * ca.dot(residual, residual), "g": gaps}
    solver = ca.nlpsol("solver", "ipopt", problem, options)
    first = np.hstack([case.y, velocities(case, np)]).T.ravel(order="F")
    guess = np.concatenate([np.array(start) / scale, first])
    ready = time.process_time()
    found = solver(x0=guess, lbg=0, ubg=0)["x"].full().ravel()
    done = time.process_time()
    estimates = found[:npar] * scale
    quality = fit(case, free_run(case, estimates, found[npar : npar + n], np), np)
    stats = solver.stats()
    return {"solver": done - ready, "setup": ready - begin, "estimates": estimates.tolist(), "fit": quality,
            "note": f"{stats['iter_count']} iterations, {stats['return_status']}"}


def by_scipy(case, start, np):
    from scipy.integrate import odeint
    from scipy.optimize import least_squares

    begin = time.process_time()
    npar = len(start)
    weight = 1.0 / np.std(case.y, axis=0)
    x0 = np.concatenate([start, case.y[0], velocities(case, np)[0]])
    scale = np.array([abs(v) if abs(v) > 1e-9 else 0.01 for v in x0])

    def residual(v):
        v = v * scale
        run = odeint(lambda x, _: case.rate(x, v[:npar], Numbers), v[npar:], case.t, rtol=1e-7, atol=1e-9, mxstep=20000)
        return ((case.reading(run[:, : case.joints], v[:npar]) - case.y) * weight).ravel()

    ready = time.process_time()
    best = least_squares(residual, x0 / scale, diff_step=1e-4, max_nfev=30)
    done = time.process_time()
    v = best.x * scale
    quality = fit(case, free_run(case, v[:npar], v[npar:], np), np)
    return {"solver": done - ready, "setup": ready - begin, "estimates": v[:npar].tolist(), "fit": quality,
            "note": f"{best.nfev} Jacobians, status {best.status}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", choices=["furuta", "decay"], help="only this record")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    enter_venv()
    import numpy as np

    stribeck = os.environ.get("STRIBECK") or os.path.join(ROOT, "target", "release", "stribeck")
    if not os.path.exists(stribeck):
        subprocess.check_call(["cargo", "build", "--release", "-p", "stribeck"], cwd=ROOT)
    kept, report = True, []
    with tempfile.TemporaryDirectory() as folder:
        cases = [] if args.record == "decay" else [furuta_case(stribeck, folder)]
        if args.record != "furuta":
            cases += [c for c in [decay_case(folder)] if c]
        for case in cases:
            case.load(np)
            rows = {"stribeck": by_stribeck(case, stribeck)}
            start = warm_start(case, stribeck)
            for name, peer in (("casadi", by_casadi), ("scipy", by_scipy)):
                print(f"{case.name}: {name} ...", file=sys.stderr)
                rows[name] = peer(case, start, np)
                rows[name]["ratio"] = rows[name]["solver"] / rows["stribeck"]["solver"]
                kept &= rows[name]["ratio"] >= REQUIRED[name]
            report.append({"record": case.name, "samples": len(case.t), "seconds": float(case.t[-1]), "names": case.names,
                           "start": start, "methods": rows})
    if args.json:
        print(json.dumps(report, indent=2))
        return 0 if kept else 1
    for r in report:
        print(f"{r['record']}: {r['samples']} samples, {r['seconds']:.1f} s; CPU seconds, one thread")
        print(f"{'':10}{'solver':>9}{'set-up':>9}{'ratio':>8}  {'fit [%]':<22}" + "".join(f"{n:>12}" for n in r["names"]))
        print(f"{'start':10}{'':26}  {'':<22}" + "".join(f"{v:>12.4g}" for v in r["start"]))
        for name, row in r["methods"].items():
            fits = " / ".join(f"{f:.5f}" for f in row["fit"])
            ratio = f"{row['ratio']:.1f}" if "ratio" in row else "1"
            print(f"{name:10}{row['solver']:>9.3f}{row['setup']:>9.3f}{ratio:>8}  {fits:<22}"
                  + "".join(f"{v:>12.5g}" for v in row["estimates"]) + f"  {row.get('note', '')}")
    print("ratios required: " + ", ".join(f"{n} {v:.0f}" for n, v in REQUIRED.items())
          + (": kept" if kept else ": NOT kept"))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
