"""A description as a model of sympy.physics.mechanics, derived by SymPy's own Lagrange and Kane; and SymPy's own models."""
import time


def axis_of(text):
    sign, name = (-1, text[1:]) if text.startswith("-") else (1, text)
    return [sign * (name == c) for c in "xyz"]


def model(d):
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols, ReferenceFrame, Point, RigidBody, inertia
    names = [b["coordinate"] for b in d["body"]]
    q, u = [dynamicsymbols(n) for n in names], [dynamicsymbols(n + "_d") for n in names]
    table = {p["name"]: sp.Symbol(p["name"]) for p in d["parameter"]} | {"sin": sp.sin, "cos": sp.cos}
    table |= {a["effort"]: sp.Symbol(a["effort"]) for a in d.get("actuator", [])}
    value = lambda s: sp.sympify(eval(s.replace("^", "**"), {"__builtins__": {}}, table))
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    vector = lambda f, c: sum((value(x) * e for x, e in zip(c, (f.x, f.y, f.z))), 0 * f.x)
    nothing = ["0"] * 3
    g = vector(N, d.get("gravity", nothing))
    frames, places, bodies, weights, potential, efforts = {"N": N}, {"N": O}, [], [], 0, []
    for i, b in enumerate(d["body"]):
        on = b.get("parent", "N")
        parent, base = frames[on], frames[b.get("turns_in", on)]
        a = axis_of(b["axis"])
        along = a[0] * base.x + a[1] * base.y + a[2] * base.z
        joint = places[on].locatenew("J" + b["name"], vector(parent, b.get("at", nothing)))
        joint.v2pt_theory(places[on], N, parent)
        if b["joint"] == "revolute":
            frame, origin = base.orientnew(b["name"], "Axis", [q[i], along]), joint
            frame.set_ang_vel(base, u[i] * along)
        else:
            frame, origin = base, joint.locatenew("S" + b["name"], q[i] * along)
            origin.set_vel(base, u[i] * along)
            origin.set_vel(N, joint.vel(N) + u[i] * along + base.ang_vel_in(N).cross(q[i] * along))
        frames[b["name"]], places[b["name"]] = frame, origin
        centre = origin.locatenew("C" + b["name"], vector(frame, b.get("com", nothing)))
        centre.v2pt_theory(origin, N, frame)
        m, about = value(b.get("mass", "0")), origin if "inertia_about" in b else centre
        bodies.append(RigidBody(b["name"], centre, frame, m, (inertia(frame, *map(value, b.get("inertia", nothing))), about)))
        weights.append((centre, m * g))
        potential -= m * g.dot(centre.pos_from(O))
        mine = lambda kind: [x for x in d.get(kind, []) if x["body"] == b["name"]]
        pull = sum(value(x["effort"]) for x in mine("actuator")) - sum(value(x["coefficient"]) for x in mine("damper")) * u[i]
        spring = sum(value(x["stiffness"]) for x in mine("spring"))
        potential += spring * q[i] ** 2 / 2
        turns = b["joint"] == "revolute"
        ends = [(frame if turns else origin, 1)] + ([(parent if turns else places[on], -1)] if on != "N" else [])
        for conservative, x in ((False, pull), (True, -spring * q[i])):
            efforts += [(end, sign * x * along, conservative) for end, sign in ends if x != 0]
    return N, q, u, bodies, weights, potential, efforts


def values(d, names, pts, method):
    """Values at the points, seconds of the derivation, the expressions: H (upper triangle) and the right side."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols, KanesMethod, LagrangesMethod, ReferenceFrame
    t = dynamicsymbols._t
    N, q, u, bodies, weights, potential, efforts = model(d)
    clock = time.process_time()
    if method == "kane":
        k = KanesMethod(N, q, u, [sp.Derivative(a, t) - b for a, b in zip(q, u)])
        k.kanes_equations(bodies, weights + [(p, v) for p, v, _ in efforts])
    else:
        rate = dict(zip(u, [sp.Derivative(x, t) for x in q]))
        kinetic = sum(b.kinetic_energy(N) for b in bodies).subs(rate)
        forces = [(p, v.subs(rate)) for p, v, conservative in efforts if not conservative]
        for p in {p for p, _ in forces}:
            turns = isinstance(p, ReferenceFrame)
            p.set_ang_vel(N, p.ang_vel_in(N).subs(rate)) if turns else p.set_vel(N, p.vel(N).subs(rate))
        k = LagrangesMethod(kinetic - potential, q, forcelist=forces or None, frame=N)
        k.form_lagranges_equations()
    M, f = k.mass_matrix, k.forcing
    seconds = time.process_time() - clock
    out = plain(M, f, q, u, [str(x.func) for x in q], [str(x.func) for x in u])
    fn = sp.lambdify([sp.Symbol(x) for x in names], out, "math", cse=True)
    return [fn(*[p[x] for x in names]) for p in pts], seconds, out


def plain(M, f, q, u, q_names, u_names):
    """Functions of time as symbols."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols
    back = {sp.Derivative(a, dynamicsymbols._t): b for a, b in zip(q, u)}
    flat = {x: sp.Symbol(n) for x, n in zip(list(q) + list(u), q_names + u_names)} | {dynamicsymbols("F"): sp.Symbol("F")}
    n = M.shape[0]
    out = [M[i, j] for i in range(n) for j in range(i, n)] + list(f)
    return [sp.sympify(e).xreplace(back).xreplace(flat) for e in out]


def operations(out, fixed):
    """Additions and products after SymPy's cse, what depends on parameters alone not counted; seconds of the cse."""
    import sympy as sp
    clock = time.process_time()
    subs, red = sp.cse(out)
    seconds = time.process_time() - clock
    live = {s for e in out for s in e.free_symbols if str(s) not in fixed}
    for s, e in subs:
        live |= {s} if e.free_symbols & live else set()
    total = 0
    for e in [e for _, e in subs] + red:
        for x in sp.preorder_traversal(e):
            if not x.free_symbols & live:
                continue
            if x.is_Add or x.is_Mul:
                parts = [a for a in x.args if not (x.is_Mul and a == -1)]
                moving = [a for a in parts if a.free_symbols & live]
                total += len(moving) + (len(parts) > len(moving)) - 1
            elif x.is_Pow:
                total += max(abs(int(x.exp)) - 1, 0)
    return total, seconds


def simplified(a, b, patience):
    """Seconds of processor time until `simplify` sees that both are equal, as text."""
    import signal
    import sympy as sp

    class Late(BaseException):
        pass

    def late(*_):
        raise Late

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, patience)
    clock = time.process_time()
    try:
        equal = all(sp.simplify(x - y) == 0 for x, y in zip(a, b, strict=True))
        return f"{time.process_time() - clock:.2f}" if equal else "not seen"
    except Late:
        return f"> {patience}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def evaluate(out, pts):
    import sympy as sp
    names = sorted({str(s) for e in out for s in e.free_symbols})
    fn = sp.lambdify([sp.Symbol(x) for x in names], out, "math")
    return [fn(*[p[x] for x in names]) for p in pts]


def own_chain(n, pts):
    """n_link_pendulum_on_cart as SymPy ships it."""
    from sympy.physics.mechanics.models import n_link_pendulum_on_cart
    k = n_link_pendulum_on_cart(n, cart_force=True)
    names = [f"q{i}" for i in range(n + 1)]
    return evaluate(plain(k.mass_matrix, k.forcing, list(k.q), list(k.u), names, [x + "_d" for x in names]), pts)


def rolling_disc(pts):
    """The disc of SymPy's examples: built from the contact point up, speeds in the leaning frame."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols, ReferenceFrame, Point, RigidBody, inertia, KanesMethod
    q, u = list(dynamicsymbols("q1 q2 q3")), list(dynamicsymbols("u1 u2 u3"))
    r, m, g, t = *sp.symbols("r m g"), dynamicsymbols._t
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q[0], N.z])
    L = Y.orientnew("L", "Axis", [q[1], Y.x])
    R = L.orientnew("R", "Axis", [q[2], L.y])
    turn = R.ang_vel_in(N).express(L)
    rates = sp.solve([turn.dot(e) - x for e, x in zip(L, u)], [x.diff(t) for x in q])
    R.set_ang_vel(N, u[0] * L.x + u[1] * L.y + u[2] * L.z)
    contact = Point("C")
    contact.set_vel(N, 0)
    centre = contact.locatenew("D", r * L.z)
    centre.v2pt_theory(contact, N, R)
    disc = RigidBody("disc", centre, R, m, (inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), centre))
    k = KanesMethod(N, q, u, [x.diff(t) - rates[x.diff(t)] for x in q])
    k.kanes_equations([disc], [(centre, -m * g * N.z)])
    out = plain(k.mass_matrix, k.forcing.subs(k.kindiffdict()), q, u, ["q1", "q2", "q3"], ["u1", "u2", "u3"])
    return evaluate(out, pts)
