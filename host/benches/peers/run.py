#!/usr/bin/env python3
"""Grey box against its peers on the same record, in one run.

    python3 host/benches/peers/run.py [DECAY.csv --time 1 --angle 2]

Builds a virtual environment beside this file (numpy, scipy, casadi), writes a simulated pendulum decay if no record is
given, and times, from the same file and the same cold start:

  stribeck   `stribeck identify --method greybox --terms coulomb,viscous,quadratic`
  casadi     multiple shooting, RK4, IPOPT with exact derivatives
  scipy      least_squares over solve_ivp, single shooting

Prints one table: time, fit of a free run, ratio to stribeck. Everything runs on one core.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
ENV = os.path.join(HERE, ".venv")


def enter_venv():
    """Re-run this script inside its own environment."""
    python = os.path.join(ENV, "bin", "python")
    if not os.path.exists(python):
        venv.create(ENV, with_pip=True)
        subprocess.check_call([python, "-m", "pip", "-q", "install", "numpy", "scipy", "casadi"])
    if os.path.realpath(sys.prefix) != os.path.realpath(ENV):
        os.environ["OMP_NUM_THREADS"] = "1"
        os.execv(python, [python] + sys.argv)


def simulate(path):
    """A pendulum decay of 40 s at 150 Hz with 2000 counts per revolution."""
    w2, c, b, d, vt = 48.6, 0.53, 0.005, 0.0007, 0.05
    q, w, h, count = math.radians(160.0), 0.0, 1e-4, 2 * math.pi / 2000

    def f(q, w):
        return w, -w2 * math.sin(q) - c * math.tanh(4 * w / vt) - b * w - d * w * abs(w)

    with open(path, "w") as out:
        out.write("t,angle\n")
        for i in range(40 * 10000):
            if i % 67 == 0:
                out.write(f"{i * h:.4f},{(math.floor(q / count) + 0.5) * count:.7f}\n")
            k1 = f(q, w)
            k2 = f(q + h / 2 * k1[0], w + h / 2 * k1[1])
            k3 = f(q + h / 2 * k2[0], w + h / 2 * k2[1])
            k4 = f(q + h * k3[0], w + h * k3[1])
            q += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            w += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])


def main():
    enter_venv()
    import casadi as ca
    import numpy as np
    from scipy.integrate import solve_ivp
    from scipy.optimize import least_squares

    args = argparse.ArgumentParser()
    args.add_argument("record", nargs="?")
    args.add_argument("--time", default="1")
    args.add_argument("--angle", default="2")
    args = args.parse_args()
    record = args.record
    if record is None:
        record = os.path.join(HERE, "decay.csv")
        simulate(record)
    stribeck = os.path.join(ROOT, "target", "release", "stribeck")
    if not os.path.exists(stribeck):
        subprocess.check_call(["cargo", "build", "--release", "-p", "stribeck"], cwd=ROOT)

    command = [stribeck, "identify", record, "--time", args.time, "--angle", args.angle, "--json",
               "--no-trim", "--terms", "coulomb,viscous,quadratic"]
    begin = time.perf_counter()
    ours = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    rows = [("stribeck (whole process)", time.perf_counter() - begin, ours[0]["results"][0]["fit_percent"][0])]

    data = np.genfromtxt(record, delimiter=",", skip_header=1)
    t, y = data[:, int(args.time) - 1], data[:, int(args.angle) - 1]
    t = t - t[0]
    y = y - np.pi * round(np.mean(y[-20:]) / np.pi)
    vt, guess = 0.05, np.array([45.0, 0.3, 0.05, 0.001])

    def rate(q, w, p, tanh=np.tanh, sin=np.sin, absolute=abs):
        return -p[0] * sin(q) - p[1] * tanh(4 * w / vt) - p[2] * w - p[3] * w * absolute(w)

    def free(p, start):
        run = solve_ivp(lambda _, x: [x[1], rate(x[0], x[1], p)], (0, t[-1]), start, t_eval=t,
                        rtol=1e-6, atol=1e-8, max_step=0.02)
        out = np.full_like(t, 1e3)
        out[: len(run.y[0])] = run.y[0]
        return out

    def fit(x):
        return 100 * (1 - np.sum((x - y) ** 2) / np.sum((y - y.mean()) ** 2))

    # CasADi: one segment per 20 samples, RK4 with substeps, all states free, IPOPT.
    begin = time.perf_counter()
    x, p, h = ca.SX.sym("x", 2), ca.SX.sym("p", 4), ca.SX.sym("h")

    def ode(x):
        return ca.vertcat(x[1], rate(x[0], x[1], p, ca.tanh, ca.sin, ca.fabs))

    substeps = 4
    z = x
    for _ in range(substeps):
        k1 = ode(z)
        k2 = ode(z + h / substeps / 2 * k1)
        k3 = ode(z + h / substeps / 2 * k2)
        k4 = ode(z + h / substeps * k3)
        z = z + h / substeps / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    step = ca.Function("step", [x, h, p], [z])
    length = 20
    nodes = list(range(0, len(t), length))
    s, q = ca.MX.sym("s", 2, len(nodes)), ca.MX.sym("q", 4)
    scale = np.array([50.0, 1.0, 0.1, 0.01])
    cost, gaps, first = 0, [], []
    for k, at in enumerate(nodes):
        state, end = s[:, k], min(at + length, len(t) - 1)
        for i in range(at, min(at + length, len(t))):
            cost += (state[0] - y[i]) ** 2
            if i < end:
                state = step(state, t[i + 1] - t[i], q * scale)
        if k + 1 < len(nodes):
            gaps.append(state - s[:, k + 1])
        velocity = (y[min(at + 2, len(y) - 1)] - y[max(at - 2, 0)]) / (
            t[min(at + 2, len(y) - 1)] - t[max(at - 2, 0)])
        first += [y[at], velocity]
    unknown = ca.vertcat(ca.vec(s), q)
    solver = ca.nlpsol("solver", "ipopt", {"x": unknown, "f": cost, "g": ca.vertcat(*gaps)},
                       {"ipopt.print_level": 0, "print_time": False, "ipopt.max_iter": 200})
    found = solver(x0=np.concatenate([first, guess / scale]), lbg=0, ubg=0)["x"].full().ravel()
    seconds = time.perf_counter() - begin
    rows.append(("casadi multiple shooting", seconds, fit(free(found[-4:] * scale, found[:2]))))

    # SciPy: single shooting from the same guess.
    begin = time.perf_counter()
    start = np.concatenate([guess, [y[0], (y[2] - y[0]) / (t[2] - t[0])]])
    best = least_squares(lambda v: free(v[:4], v[4:]) - y, start, x_scale=np.maximum(np.abs(start), 1e-2),
                         max_nfev=30)
    rows.append(("scipy single shooting", time.perf_counter() - begin, fit(free(best.x[:4], best.x[4:]))))

    print(f"{os.path.basename(record)}: {len(t)} samples, {t[-1]:.1f} s")
    print(f"{'method':<28}{'time [s]':>10}{'fit [%]':>12}{'x stribeck':>12}")
    for name, seconds, quality in rows:
        print(f"{name:<28}{seconds:>10.3f}{quality:>12.4f}{seconds / rows[0][1]:>12.1f}")


if __name__ == "__main__":
    main()
