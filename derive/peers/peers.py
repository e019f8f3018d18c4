"""The derivations against other people's programs: SymPy (Lagrange and Kane), MuJoCo, Pinocchio, Drake.

    python -m venv v && v/bin/pip install sympy mujoco pin drake
    cargo build --release -p stribeck-derive --example peer
    v/bin/python derive/peers/peers.py            # largest differences at 100 random points
    v/bin/python derive/peers/peers.py --table    # times and operations beside SymPy's, as Markdown (docs/derive.md)

Each peer builds its own model from the description (derive/mechanisms/*.toml) with its own kinematics; only the numbers of the
description are shared. A peer that is not installed is named and left out. Exit code 1 when a difference exceeds its limit.
"""
import math, os, pathlib, random, subprocess, sys, tomllib
import sympy_peer

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/peer"
POINTS = 100
PATIENCE = 5  # seconds for SymPy's simplify
FIVE = ["pendulum", "furuta", "cartpole", "acrobot", "reactionwheel"]
MORE = ["twomass", "doublependulum", "chaospendulum"]


def read(name):
    if name[:5] in ("nlink", "rlink"):
        return chain(int(name[5:]), name[0] == "n")
    return tomllib.loads((ROOT / f"derive/mechanisms/{name}.toml").read_text())


def chain(n, absolute):
    """n point masses on massless links on a cart: what `nlinkN` and `rlinkN` mean."""
    body = [dict(name="P0", joint="prismatic", coordinate="q0", axis="x", mass="m0")]
    for i in range(1, n + 1):
        at = "0" if i == 1 else f"l{i - 2}"
        link = dict(name=f"P{i}", parent=f"P{i - 1}", joint="revolute", coordinate=f"q{i}", axis="z", at=["0", at, "0"],
                    mass=f"m{i}", com=["0", f"l{i - 1}", "0"])
        body.append(link | ({"turns_in": "N"} if absolute else {}))
    names = ["g"] + [f"m{i}" for i in range(n + 1)] + [f"l{i}" for i in range(n)]
    return dict(name="chain", gravity=["0", "-g", "0"], body=body, actuator=[dict(body="P0", effort="F")],
                parameter=[dict(name=x) for x in names])


def symbols(d):
    q = [b["coordinate"] for b in d["body"]]
    speeds = [s["name"] for s in d.get("speed", [])]
    return [p["name"] for p in d["parameter"]] + q + [x + "_d" for x in q] + speeds + [a["effort"] for a in d.get("actuator", [])]


def points(d, count=POINTS, seed=1):
    """Random values; inertias large and in a narrow band, so that every body is physically possible."""
    r = random.Random(seed)
    unit = {p["name"]: p.get("unit", "") for p in d["parameter"]}
    span = lambda n: (12.0, 14.0) if n == "J" else (1.0, 1.5) if unit.get(n) == "kg*m^2" else (0.2, 2.2)
    return [{n: r.uniform(*span(n)) for n in symbols(d)} for _ in range(count)]


def ours(name, pts):
    text = "\n".join(" ".join(f"{k}={v!r}" for k, v in p.items()) for p in pts)
    out = subprocess.run([PEER, "values", name], input=text, capture_output=True, text=True, check=True).stdout
    return [[float(x) for x in line.split()] for line in out.splitlines()]


def difference(a, b):
    return max(abs(x - y) / (1 + abs(x)) for x, y in zip(a, b, strict=True))


def numbers(p):
    table = dict(p) | {"sin": math.sin, "cos": math.cos}
    return lambda s: eval(s.replace("^", "**"), {"__builtins__": {}}, table)


def central(b, value):
    """Mass, centre, moments about the centre."""
    m, c = value(b.get("mass", "0")), [value(x) for x in b.get("com", ["0"] * 3)]
    moments = [value(x) for x in b.get("inertia", ["0"] * 3)]
    if "inertia_about" in b:
        r2 = sum(x * x for x in c)
        moments = [x - m * (r2 - y * y) if x else 0.0 for x, y in zip(moments, c)]
    return m, c, moments


def effort(d, p):
    names = [b["name"] for b in d["body"]]
    out = [0.0] * len(names)
    for a in d.get("actuator", []):
        out[names.index(a["body"])] += p[a["effort"]]
    return out


def row(H, right):
    n = len(right)
    return [H[i, j] for i in range(n) for j in range(i, n)] + list(right)


def mujoco_values(name, pts):
    import mujoco, numpy as np
    d, rows = read(name), []
    text = lambda v: " ".join(repr(float(x)) for x in v)
    for p in pts:
        value, opened = numbers(p), ""
        for b in d["body"]:
            m, c, moments = central(b, value)
            # A moment the motion never sees is filled, since MuJoCo wants all three.
            moments = [x if x > 0 else max(moments) or 1e-3 for x in moments]
            kind = "hinge" if b["joint"] == "revolute" else "slide"
            opened += (f'<body pos="{text(map(value, b.get("at", ["0"] * 3)))}"><joint type="{kind}" axis="{text(sympy_peer.axis_of(b["axis"]))}"/>'
                       f'<inertial pos="{text(c)}" mass="{m!r}" diaginertia="{text(moments)}"/>')
        world = f'<worldbody>{opened}{"</body>" * len(d["body"])}</worldbody>'
        gravity = text(map(value, d.get("gravity", ["0"] * 3)))
        model = mujoco.MjModel.from_xml_string(f'<mujoco><option gravity="{gravity}"/>{world}</mujoco>')
        data, n = mujoco.MjData(model), model.nv
        data.qpos[:] = [p[b["coordinate"]] for b in d["body"]]
        data.qvel[:] = [p[b["coordinate"] + "_d"] for b in d["body"]]
        mujoco.mj_forward(model, data)
        # Column i of H is what a unit acceleration needs beyond the bias.
        H = np.zeros((n, n))
        for i in range(n):
            data.qacc[:] = np.eye(n)[i]
            mujoco.mj_inverse(model, data)
            H[:, i] = data.qfrc_inverse - data.qfrc_bias
        rows.append(row(H, [e - x for e, x in zip(effort(d, p), data.qfrc_bias)]))
    return rows


def pinocchio_values(name, pts):
    import pinocchio as pin, numpy as np
    d, rows = read(name), []
    for p in pts:
        value, model, parent = numbers(p), pin.Model(), 0
        model.gravity.linear = np.array([value(x) for x in d.get("gravity", ["0"] * 3)])
        for b in d["body"]:
            m, c, moments = central(b, value)
            a = np.array(sympy_peer.axis_of(b["axis"]), float)
            kind = pin.JointModelRevoluteUnaligned(a) if b["joint"] == "revolute" else pin.JointModelPrismaticUnaligned(a)
            place = pin.SE3(np.eye(3), np.array([value(x) for x in b.get("at", ["0"] * 3)]))
            parent = model.addJoint(parent, kind, place, b["name"])
            model.appendBodyToJoint(parent, pin.Inertia(m, np.array(c), np.diag(moments)), pin.SE3.Identity())
        data = model.createData()
        q = np.array([p[b["coordinate"]] for b in d["body"]])
        v = np.array([p[b["coordinate"] + "_d"] for b in d["body"]])
        H, bias = pin.crba(model, data, q), pin.nonLinearEffects(model, data, q, v)
        rows.append(row(H, [e - x for e, x in zip(effort(d, p), bias)]))
    return rows


def drake_acrobot(pts):
    """Drake measures from hanging, counter-clockwise: θ1 = π − ours, θ2 = −ours, so rates and right sides change sign."""
    from pydrake.examples import AcrobotPlant
    rows = []
    for p in pts:
        plant = AcrobotPlant()
        c = plant.CreateDefaultContext()
        a = plant.get_mutable_parameters(c)
        for name, x in dict(m1="m_a", m2="m_b", l1="l", lc1="l_a", lc2="l_b", Ic1="I_a", Ic2="I_b", gravity="g").items():
            getattr(a, f"set_{name}")(p[x])
        a.set_b1(0.0), a.set_b2(0.0)
        c.SetContinuousState([math.pi - p["theta1"], -p["theta2"], -p["theta1_d"], -p["theta2_d"]])
        bias = plant.DynamicsBiasTerm(c)
        rows.append(row(plant.MassMatrix(c), [bias[0], p["tau"] + bias[1]]))
    return rows


def compare():
    failed = False

    def report(peer, name, values, pts, limit):
        nonlocal failed
        x = max(difference(a, b) for a, b in zip(ours(name, pts), values, strict=True))
        failed |= not x <= limit
        print(f"{peer:<18} {name:<15} {len(pts)} points of {len(values[0])} values: largest difference {x:.1e} (limit {limit:.0e})", flush=True)

    def each(module, peer, names, values, limit):
        try:
            __import__(module)
        except ImportError:
            return print(f"{module} is not installed: left out")
        for name in names:
            pts = points(read(name))
            report(peer, name, values(name, pts), pts, limit)

    for method in ("lagrange", "kane"):
        each("sympy", f"SymPy {method}", FIVE + MORE + ["nlink2", "nlink3"],
             lambda name, pts: sympy_peer.values(read(name), symbols(read(name)), pts, method)[0], 1e-13)
    each("sympy", "SymPy's own model", [f"nlink{n}" for n in range(1, 7)], lambda name, pts: sympy_peer.own_chain(int(name[5:]), pts), 1e-13)
    each("sympy", "SymPy's own model", ["rollingdisc"], lambda name, pts: sympy_peer.rolling_disc(pts), 1e-13)
    each("mujoco", "MuJoCo", FIVE + ["chaospendulum"], mujoco_values, 1e-12)
    each("pinocchio", "Pinocchio", FIVE + ["chaospendulum", "rlink3", "rlink5"], pinocchio_values, 1e-12)
    each("pydrake", "Drake AcrobotPlant", ["acrobot"], lambda name, pts: drake_acrobot(pts), 1e-12)
    return int(failed)


def table():
    print("| system | Lagrange + Kane + proof + code [ms] | operations | after the search [ms] | SymPy: Lagrange + Kane + code [ms] "
          "| times faster | SymPy: operations | SymPy: simplify(Lagrange − Kane) [s] |")
    print("|---|---|---|---|---|---|---|---|")
    slowest = math.inf
    for name in FIVE + [f"nlink{n}" for n in range(1, 6)] + ["rlink3", "rlink5"]:
        once, search = [subprocess.run([PEER, "times", name, seeds], capture_output=True, text=True, check=True).stdout.split()
                        for seeds in ("1", "20")]
        ms, d = [float(x) for x in once[:4]], read(name)
        pts, fixed = points(d, 1), {p["name"] for p in d["parameter"]}
        runs = [sympy_peer.values(d, symbols(d), pts, method) for method in ("lagrange", "kane")]
        ops, code = min(sympy_peer.operations(out, fixed) for _, _, out in runs)
        theirs = [s * 1e3 for _, s, _ in runs] + [code * 1e3]
        proof = sympy_peer.simplified(runs[0][2], runs[1][2], PATIENCE)
        text = lambda parts, digits: " + ".join(f"{x:.{digits}f}" for x in parts) + f" = {sum(parts):.{digits}f}"
        factor = sum(theirs) / sum(ms)
        slowest = min(slowest, factor)
        print(f"| {name} | {text(ms, 2)} | {once[4]} | {search[4]} ({float(search[3]):.0f}) | {text(theirs, 0)} | {factor:.0f} | {ops} | {proof} |",
              flush=True)
    print(f"\nAt least {slowest:.0f} times.")


if __name__ == "__main__":
    if not PEER.exists():
        sys.exit("build it first: cargo build --release -p stribeck-derive --example peer")
    sys.exit(table() if "--table" in sys.argv else compare())
