#!/usr/bin/env python3
"""Bond graphs against judges nobody here wrote: BondGraphTools (with SymPy) and CasADi's CVODES.

    python3 host/benches/peers/bond.py

Builds a virtual environment beside this file (sympy, casadi, BondGraphTools from PyPI); needs target/release/stribeck.

  equations      RLC and the linear part of the motor are built again in BondGraphTools; its constitutive relations and
                 the text of `stribeck bond` must agree exactly at 100 random points
  sensitivities  cart and pendulum of paper 003: `stribeck bond --simulate --sensitivity` against CVODES with forward
                 sensitivities on the Lagrange equations, written here by hand
  time           CPU seconds from graph to simulated motion, both programs from start to end, in one run

The exit code is 1 when anything disagrees.
"""

import csv
import io
import os
import random
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
ENV = os.path.join(HERE, ".venv")
STRIBECK = os.path.join(ROOT, "target", "release", "stribeck")


def enter_environment():
    python = os.path.join(ENV, "bin", "python")
    if os.path.abspath(sys.prefix) == ENV:
        return
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", ENV])
    subprocess.check_call([python, "-m", "pip", "install", "-q", "numpy", "sympy", "casadi", "BondGraphTools"])
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


def stribeck(*args):
    return subprocess.run([STRIBECK, "bond", *args], check=True, capture_output=True, text=True).stdout


def our_equations(name, states, symbols):
    """Right-hand sides of `stribeck bond NAME` as SymPy expressions, by state."""
    import sympy

    found = {}
    for line in stribeck(name).splitlines():
        left, _, right = line.partition(" = ")
        # p_l' and q_c': the rates of the stores l and c.
        if left.endswith("'") and left[2:-1] in states:
            found[left[2:-1]] = sympy.sympify(right.replace("·", "*"), locals=symbols)
    assert set(found) == set(states), (name, found)
    return found


def their_rates(model, inputs):
    """BondGraphTools' constitutive relations solved for the rates, in its own names x_0, x_1, …"""
    import sympy

    relations = [sympy.sympify(r) for r in model.constitutive_relations]
    rates = sorted({s for r in relations for s in r.free_symbols if str(s).startswith("dx_")}, key=str)
    solution = sympy.solve(relations, rates, dict=True)[0]
    return [solution[r] for r in rates]


def rlc():
    import BondGraphTools as bgt

    model = bgt.new(name="RLC")
    parts = {
        "source": bgt.new("Se", name="source"),
        "loop": bgt.new("1", name="loop"),
        "r": bgt.new("R", name="r", value=10.0),
        "l": bgt.new("I", name="l", value=1e-3),
        "c": bgt.new("C", name="c", value=1e-6),
    }
    bgt.add(model, *parts.values())
    bgt.connect(parts["source"], parts["loop"])
    for name in ("r", "l", "c"):
        bgt.connect(parts["loop"], parts[name])
    return model


def compare_rlc():
    import sympy

    symbols = {n: sympy.Symbol(n) for n in ("u", "r", "l", "c", "p_l", "q_c")}
    ours = our_equations("rlc", ["l", "c"], symbols)
    model = rlc()
    theirs = their_rates(model, ["u"])
    states = [str(v) for v in model.state_vars.values()]
    worst = 0.0
    for _ in range(100):
        p, q, u = random.uniform(-1, 1) * 1e-3, random.uniform(-1, 1) * 1e-6, random.uniform(-10, 10)
        values = {symbols["r"]: 10.0, symbols["l"]: 1e-3, symbols["c"]: 1e-6, symbols["u"]: u, symbols["p_l"]: p, symbols["q_c"]: q}
        mine = {name: float(expression.subs(values)) for name, expression in ours.items()}
        # Its states are named after the component's variable: p of the inductor, q of the capacitor.
        order = [("l", p) if "p" in s.split("_")[0] else ("c", q) for s in states]
        at = {sympy.Symbol(f"x_{i}"): value for i, (_, value) in enumerate(order)}
        at.update({sympy.Symbol("u_0"): u, sympy.Symbol("e_0"): u})
        for (name, _), expression in zip(order, theirs):
            other = float(expression.subs(at))
            worst = max(worst, abs(other - mine[name]) / (1.0 + abs(other)))
    return worst


def cart_casadi():
    """Motion and d/dr_c of the cart and pendulum by CVODES, Lagrange's equations by hand; rows every .05 s."""
    import casadi as ca

    l_a, r_a, k_m, j_a, k_g, r = 0.18e-3, 2.6, 0.00767, 3.87e-7, 0.27027027027027023, 0.00635
    m_c, m_p, l, j_p, g = 0.7429, 0.21, 0.305, 0.00651175, 9.81
    x, r_c = ca.SX.sym("x", 5), ca.SX.sym("r_c")
    i, w, alpha, v = x[0], x[1], x[2], x[3]
    n = 1.0 / (k_g * r)
    m11, h, m22 = m_c + m_p + j_a * n * n, m_p * l * ca.cos(alpha), j_p + m_p * l * l
    b0 = k_m * n * i - r_c * v + m_p * l * ca.sin(alpha) * w**2
    b1 = m_p * g * l * ca.sin(alpha)
    det = m11 * m22 - h * h
    t = ca.SX.sym("t")
    u = 3.0 * ca.sin(6.0 * t)
    rates = ca.vertcat((u - r_a * i - k_m * n * v) / l_a, (m11 * b1 - h * b0) / det, w, (m22 * b0 - h * b1) / det, v)
    grid = [0.05 * k for k in range(21)]
    dae = {"x": x, "p": r_c, "t": t, "ode": rates}
    run = ca.integrator("run", "cvodes", dae, grid[0], grid, {"abstol": 1e-12, "reltol": 1e-12})
    start, p = ca.DM([0, 0, 0.4, 0, 0]), ca.MX.sym("p")
    motion = ca.Function("motion", [p], [run(x0=start, p=p)["xf"]])
    by_r_c = ca.Function("by", [p], [ca.jacobian(motion(p), p)])
    values, derivative = motion(7.198).full(), by_r_c(7.198).full().reshape(-1, order="F").reshape(5, -1, order="F")
    # Speeds and current to momenta, as our states are.
    scale = [l_a, j_p, 1.0, m_c, 1.0]
    return grid, [[s * q for q in row] for s, row in zip(scale, values)], [[s * q for q in row] for s, row in zip(scale, derivative)]


def compare_cart():
    text = stribeck("cart-pendulum", "--simulate", "1", "--step", "2e-5", "--input", "u=3*sin(6*t)", "--input", "g=9.81",
                    "--initial", "alpha=0.4", "--sensitivity", "r_c")
    rows = list(csv.DictReader(io.StringIO(text)))
    grid, values, derivative = cart_casadi()
    names = ["l_a", "j_p", "alpha", "m_c", "x"]
    worst, worst_sensitivity = 0.0, 0.0
    for k, t in enumerate(grid):
        row = rows[round(t / 2e-5)]
        for j, name in enumerate(names):
            size = max(abs(v) for v in values[j])
            worst = max(worst, abs(float(row[name]) - values[j][k]) / size)
            size = max(abs(v) for v in derivative[j])
            worst_sensitivity = max(worst_sensitivity, abs(float(row[f"d{name}/dr_c"]) - derivative[j][k]) / size)
    return worst, worst_sensitivity


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


THEIR_RUN = """
import sys
sys.path.insert(0, {here!r})
from bond import rlc
import numpy, sympy
from bond import their_rates
model = rlc()
rates = their_rates(model, ["u"])
x = sympy.symbols("x_0 x_1")
u = sorted({{s for r in rates for s in r.free_symbols}} - set(x), key=str)
f = sympy.lambdify([x, u], rates)
y, h = numpy.zeros(2), 1e-6
for _ in range(2000):
    k1 = numpy.array(f(y, [1.0])); k2 = numpy.array(f(y + h/2*k1, [1.0]))
    k3 = numpy.array(f(y + h/2*k2, [1.0])); k4 = numpy.array(f(y + h*k3, [1.0]))
    y = y + h/6*(k1 + 2*k2 + 2*k3 + k4)
"""


def main():
    enter_environment()
    if not os.path.exists(STRIBECK):
        subprocess.check_call(["cargo", "build", "--release"], cwd=ROOT)
    random.seed(1)
    worst = compare_rlc()
    print(f"RLC against BondGraphTools, 100 random points: {worst:.1e}")
    motion, sensitivity = compare_cart()
    print(f"cart and pendulum against CVODES, 1 s: states {motion:.1e}, d/dr_c {sensitivity:.1e} (of the largest)")
    ours = cpu_of([STRIBECK, "bond", "rlc", "--simulate", "2e-3", "--step", "1e-6", "--input", "u=1"])
    theirs = cpu_of([sys.executable, "-c", THEIR_RUN.format(here=HERE)])
    print(f"graph to 2,000 steps of motion, RLC: stribeck {ours:.3f} s, BondGraphTools + SymPy {theirs:.2f} s CPU: {theirs / ours:.0f} x")
    sys.exit(0 if worst < 1e-12 and motion < 1e-8 and sensitivity < 1e-6 else 1)


if __name__ == "__main__":
    main()
