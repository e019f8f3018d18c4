#!/usr/bin/env python3
"""Golden trajectories of friction with memory, by other means than the product's: shared/tests/golden/slip.txt.

    python3 host/benches/peers/slip_golden.py > shared/tests/golden/slip.txt      (needs numpy and scipy)

A joint is dragged through 80 stretches of constant velocity, some slow enough to stay in presliding, some sliding, with reversals
within reversals. Columns: law, stretch, velocity [rad/s], time [s], torque [N m] at its end.

  lugre    the differential equation, scipy's implicit Radau, rtol 1e-12
  gms      the same per element, with stick and slip as events
  maxwell  no differential equation at all: Masing's rules on a stack of reversal points (Prandtl-Ishlinskii)
"""
import numpy as np
from scipy.integrate import solve_ivp

LOAD = 2.5
STRETCH = 80
rng = np.random.default_rng(17)
V = np.where(rng.random(STRETCH) < 0.5, rng.normal(0, 0.004, STRETCH), rng.normal(0, 0.08, STRETCH))
T = rng.uniform(0.002, 0.03, STRETCH)
V, T = np.round(V, 6), np.round(T, 5)


def lugre():
    s0, s1, fade, mud, mus, vs, muv = 4.0, 0.02, 30.0, 5e-4, 7e-4, 0.01, 2.5e-3
    z, out = 0.0, []
    for v, t in zip(V, T):
        g = LOAD * (mud + (mus - mud) * np.exp(-(v / vs) ** 2)) / s0
        rate = lambda _, z: v - abs(v) * z / g
        z = solve_ivp(rate, (0, t), [z], method="Radau", rtol=1e-12, atol=1e-18).y[0, -1]
        out.append(s0 * z + s1 * np.exp(-(v * fade) ** 2) * rate(0, z) + muv * v)
    return out


def gms():
    k = np.array([8.0, 4.0, 2.0, 1.0])
    al = np.array([0.1, 0.2, 0.3, 0.4])
    c, mud, mus, vs, muv = 0.05, 5e-4, 7e-4, 0.01, 2.5e-3
    f, slip, last, out = np.zeros(4), np.zeros(4, bool), 0.0, []
    for v, t in zip(V, T):
        s = LOAD * (mud + (mus - mud) * np.exp(-(v / vs) ** 2))
        sg = np.sign(v)
        if sg != last:
            slip[:] = False
        last = sg
        for i in range(4):
            t0 = 0.0
            if not slip[i]:
                limit = lambda _, y: sg * y[0] - al[i] * s
                limit.terminal, limit.direction = True, 1
                if sg * f[i] < al[i] * s:
                    r = solve_ivp(lambda _, y: [k[i] * v], (0, t), [f[i]], events=limit, rtol=1e-13, atol=1e-18)
                    f[i], t0 = r.y[0, -1], r.t[-1]
                    slip[i] = r.status == 1
                else:
                    slip[i] = True
            if slip[i] and t0 < t:
                rate = lambda _, y: [sg * c * (al[i] - sg * y[0] / s)]
                f[i] = solve_ivp(rate, (t0, t), [f[i]], method="Radau", rtol=1e-12, atol=1e-18).y[0, -1]
        out.append(f.sum() + muv * v)
    return out


def maxwell():
    limit = np.array([2e-5, 8e-5, 3e-4, 9e-4])
    k = np.array([3.0, 1.0, 0.4, 0.2])
    muv = 2.5e-3
    virgin = lambda x: np.sign(x) * (k * np.minimum(abs(x), limit)).sum()
    # Stack of turning points (x, force), oldest first; the virgin curve starts at the origin.
    stack, x, f, direction, out = [], 0.0, 0.0, 0, []
    for v, t in zip(V, T):
        way = int(np.sign(v))
        if direction and way != direction:
            stack.append((x, f))
        direction = way
        x += v * t
        # A branch that passes the turning point before last closes its loop: both are forgotten.
        while len(stack) >= 2 and direction * (x - stack[-2][0]) >= 0:
            stack = stack[:-2]
        # The first branch after the virgin curve ends where it meets that curve's mirror image.
        if len(stack) == 1 and direction * (x + stack[0][0]) >= 0:
            stack = []
        if stack:
            xr, fr = stack[-1]
            f = fr + 2.0 * virgin((x - xr) / 2.0)
        else:
            f = virgin(x)
        out.append(LOAD * f + muv * v)
    return out


print("# host/benches/peers/slip_golden.py: law, stretch, velocity [rad/s], time [s], torque [N m]")
for name, law in (("lugre", lugre), ("gms", gms), ("maxwell", maxwell)):
    for i, f in enumerate(law()):
        print(f"{name} {i} {V[i]!r} {T[i]!r} {float(f)!r}".replace("np.float64(", "").replace(")", ""))
