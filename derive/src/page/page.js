"use strict";
// The page's motion: M(q)·ẇ = Q − c and q̇(q, w) from the derivation, integrated with Runge–Kutta, drawn from r(q).
(() => {
  const p = model.parameters.map((x) => x.value);
  const u = model.names.u.map(() => 0);
  let start = 0, q = [], w = [], time = 0, running = false, history = [], yaw = 0.6, pitch = 0.35;
  const view = document.getElementById("view"), trace = document.getElementById("trace");
  const ink = () => getComputedStyle(document.body).color;

  function reset() {
    const s = model.starts[start] || { q: model.names.q.map(() => 0), w: model.names.w.map(() => 0) };
    // A little off the equilibrium, or nothing would move.
    q = s.q.slice();
    model.bodies.filter((b) => b.kind === "hinge").forEach((b) => { q[b.q] += 0.15; });
    w = s.w.slice();
    time = 0;
    history = [];
    draw();
  }

  function solve(a, b) {
    const n = b.length;
    for (let c = 0; c < n; c++) {
      let best = c;
      for (let r = c + 1; r < n; r++) if (Math.abs(a[r * n + c]) > Math.abs(a[best * n + c])) best = r;
      for (let k = 0; k < n; k++) [a[c * n + k], a[best * n + k]] = [a[best * n + k], a[c * n + k]];
      [b[c], b[best]] = [b[best], b[c]];
      for (let r = 0; r < n; r++) {
        if (r === c) continue;
        const f = a[r * n + c] / a[c * n + c];
        for (let k = c; k < n; k++) a[r * n + k] -= f * a[c * n + k];
        b[r] -= f * b[c];
      }
    }
    return b.map((x, i) => x / a[i * n + i]);
  }

  function rate(y) {
    const n = q.length, k = w.length;
    const r = model.rates(p, y.slice(0, n), y.slice(n), u);
    return [...r.slice(k + k * k), ...solve(r.slice(k, k + k * k), r.slice(0, k))];
  }

  function step(dt) {
    const y = [...q, ...w], at = (d, h) => y.map((x, i) => x + h * d[i]);
    const a = rate(y), b = rate(at(a, dt / 2)), c = rate(at(b, dt / 2)), d = rate(at(c, dt));
    const z = y.map((x, i) => x + (dt / 6) * (a[i] + 2 * b[i] + 2 * c[i] + d[i]));
    q = z.slice(0, q.length);
    w = z.slice(q.length);
    time += dt;
  }

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); };

  // Up is against gravity; a planar mechanism is seen along the axis it never leaves.
  const STRIDE = 17;
  function samples() {
    const list = [];
    for (let k = 0; k < 6; k++) list.push(model.draw(p, q.map((_, i) => 0.3 + 0.9 * Math.sin(1 + 3 * k + 5 * i)), w, u));
    return list;
  }
  function frame() {
    const g = model.gravity(p, q, w, u), up = Math.hypot(...g) > 1e-9 ? unit(g.map((x) => -x)) : [0, 1, 0];
    const spread = [0, 1, 2].map((axis) => {
      const v = samples().flatMap((d) => model.bodies.flatMap((_, i) => [3, 6].map((o) => d[i * STRIDE + o + axis])));
      return Math.max(...v) - Math.min(...v);
    });
    const flat = spread.findIndex((x, axis) => x < 1e-9 && Math.abs(up[axis]) < 0.99);
    if (flat >= 0) {
      const n = [0, 0, 0];
      n[flat] = 1;
      return { up: unit(up.map((x, i) => x - n[i] * dot(up, n))), right: unit(cross(up, n)), flat: true };
    }
    const side = unit(cross(up, Math.abs(up[0]) < 0.9 ? [1, 0, 0] : [0, 0, 1])), front = cross(side, up);
    const right = side.map((x, i) => x * Math.cos(yaw) + front[i] * Math.sin(yaw));
    const away = front.map((x, i) => x * Math.cos(yaw) - side[i] * Math.sin(yaw));
    return { up: up.map((x, i) => x * Math.cos(pitch) + away[i] * Math.sin(pitch)), right, flat: false };
  }
  const extent = () => Math.max(0.05, ...samples().flatMap((d) => model.bodies.map((_, i) =>
    Math.hypot(d[i * STRIDE + 6], d[i * STRIDE + 7], d[i * STRIDE + 8]) + d[i * STRIDE + 15])));

  function draw() {
    const c = view.getContext("2d"), f = frame(), d = model.draw(p, q, w, u);
    const slides = model.bodies.some((b) => b.kind === "slide"), size = extent();
    // A mechanism that travels is followed by its first moving joint.
    const last = model.bodies.findLastIndex((b) => b.kind === "slide");
    const eye = slides ? [3, 4, 5].map((o) => d[last * STRIDE + o]) : [0, 0, 0];
    const scale = (0.42 * Math.min(view.width, view.height)) / size;
    const at = (x) => {
      const r = x.map((v, i) => v - eye[i]);
      return [view.width / 2 + scale * dot(r, f.right), view.height / 2 - scale * dot(r, f.up)];
    };
    c.clearRect(0, 0, view.width, view.height);
    c.strokeStyle = c.fillStyle = ink();
    c.lineCap = "round";
    c.globalAlpha = 0.25;
    c.lineWidth = 1;
    const ground = at([0, 0, 0]);
    c.beginPath();
    c.moveTo(0, ground[1]);
    c.lineTo(view.width, ground[1]);
    for (let k = -20; k < 20; k++) {
      const x = ground[0] + k * 60;
      c.moveTo(x, ground[1]);
      c.lineTo(x - 8, ground[1] + 8);
    }
    c.stroke();
    c.globalAlpha = 1;
    const heaviest = Math.max(1e-12, ...model.bodies.map((_, i) => d[i * STRIDE + 16]));
    model.bodies.forEach((body, i) => {
      const v = (o) => [d[i * STRIDE + o], d[i * STRIDE + o + 1], d[i * STRIDE + o + 2]];
      const from = at(v(0)), joint = at(v(3)), com = at(v(6)), e1 = v(9), e2 = v(12);
      const radius = d[i * STRIDE + 15], mass = d[i * STRIDE + 16];
      c.strokeStyle = c.fillStyle = `hsl(${(200 + 67 * i) % 360} 60% 50%)`;
      c.lineWidth = 3;
      if (body.kind !== "slide") {
        c.beginPath();
        c.moveTo(...from);
        c.lineTo(...joint);
        c.lineTo(...com);
        c.stroke();
      } else if (mass > 0) {
        c.save();
        c.translate(...joint);
        c.rotate(-Math.atan2(dot(e1, f.up), dot(e1, f.right)));
        c.strokeRect(-28, -14, 56, 28);
        c.restore();
      }
      if (body.kind === "wheel") {
        c.beginPath();
        for (let k = 0; k <= 48; k++) {
          const a = (k * Math.PI) / 24;
          const x = at(v(3).map((o, j) => o + radius * (Math.cos(a) * e1[j] + Math.sin(a) * e2[j])));
          k ? c.lineTo(...x) : c.moveTo(...x);
        }
        c.moveTo(...joint);
        c.lineTo(...at(v(3).map((o, j) => o + radius * e1[j])));
        c.stroke();
      }
      if (mass > 0 && body.kind !== "slide") {
        c.beginPath();
        c.arc(com[0], com[1], 4 + 8 * Math.cbrt(mass / heaviest), 0, 2 * Math.PI);
        c.fill();
      }
      if (body.kind === "hinge") {
        c.beginPath();
        c.arc(joint[0], joint[1], 4, 0, 2 * Math.PI);
        c.fillStyle = ink();
        c.fill();
      }
    });
    c.fillStyle = ink();
    c.font = "13px system-ui";
    c.fillText(`t = ${time.toFixed(2)} s`, 10, 18);
    energyTrace();
  }

  function energyTrace() {
    const c = trace.getContext("2d");
    c.clearRect(0, 0, trace.width, trace.height);
    if (!model.energy) return;
    const [t, v] = model.energy(p, q, w, u);
    history.push([time, t, v, t + v]);
    while (history.length && history[0][0] < time - 10) history.shift();
    const all = history.flatMap((h) => h.slice(1)), low = Math.min(...all), high = Math.max(...all), span = high - low || 1;
    ["hsl(200 70% 50%)", "hsl(30 80% 50%)", ink()].forEach((colour, k) => {
      c.strokeStyle = colour;
      c.lineWidth = k === 2 ? 2 : 1.2;
      c.beginPath();
      history.forEach((h, i) => {
        const x = ((h[0] - Math.max(0, time - 10)) / 10) * trace.width, y = trace.height - 12 - ((h[k + 1] - low) / span) * (trace.height - 30);
        i ? c.lineTo(x, y) : c.moveTo(x, y);
      });
      c.stroke();
      c.fillStyle = colour;
      c.fillText(["kinetic", "potential", "total"][k] + ` ${history[history.length - 1][k + 1].toPrecision(5)} J`, 8 + 130 * k, 12);
    });
  }

  function controls() {
    const box = document.getElementById("controls"), buttons = document.createElement("div");
    buttons.className = "buttons";
    const button = (text, action) => {
      const b = document.createElement("button");
      b.textContent = text;
      b.onclick = () => action(b);
      buttons.append(b);
      return b;
    };
    if (model.rates) button(running ? "pause" : "run", (b) => { running = !running; b.textContent = running ? "pause" : "run"; });
    model.starts.forEach((s, i) => button(`start near “${s.name}”`, () => { start = i; reset(); }));
    box.append(buttons);
    const slider = (name, value, low, high, unit, set) => {
      const row = document.createElement("label"), input = document.createElement("input"), out = document.createElement("span");
      row.className = "row";
      Object.assign(input, { type: "range", min: low, max: high, step: "any" });
      input.value = value;
      const show = () => { out.textContent = `${(+input.value).toPrecision(3)} ${unit === "1" ? "" : unit}`; };
      input.oninput = () => { set(+input.value); show(); draw(); };
      const title = document.createElement("span");
      title.textContent = name;
      row.append(title, input, out);
      box.append(row);
      show();
    };
    model.names.u.forEach((n, i) => slider(n, 0, -2, 2, model.efforts[i], (x) => { u[i] = x; }));
    model.parameters.forEach((x, i) => {
      const wide = x.value === 0 ? [-1, 1] : [Math.min(x.value / 4, x.value * 3), Math.max(x.value / 4, x.value * 3)];
      slider(model.names.p[i], x.value, Math.max(wide[0], x.low), Math.min(wide[1], x.high), x.unit, (y) => { p[i] = y; });
    });
  }

  view.onpointerdown = (e) => { view.setPointerCapture(e.pointerId); };
  view.onpointermove = (e) => {
    if (!e.buttons) return;
    yaw += e.movementX / 120;
    pitch = Math.max(-1.4, Math.min(1.4, pitch + e.movementY / 120));
    draw();
  };
  running = !!model.rates && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  controls();
  reset();
  let before = performance.now();
  const loop = (now) => {
    const elapsed = Math.min(0.05, (now - before) / 1000);
    before = now;
    if (running && model.rates) {
      const n = Math.max(1, Math.round(elapsed / 0.001));
      for (let k = 0; k < n; k++) step(elapsed / n);
      if (!q.every(Number.isFinite)) { running = false; reset(); }
      draw();
    }
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
})();
