// The playback: controls, camera, clock. Data of a run are unpacked when it is first shown.

const element = (id) => document.getElementById(id);

function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return null;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  const lose = gl.getExtension("WEBGL_lose_context");
  if (lose) lose.loseContext();
  return /swiftshader|llvmpipe|software|softpipe|basic render/i.test(name);
}

class Player {
  constructor(heads, texts, shaders) {
    this.heads = heads;
    this.texts = texts;
    this.shaders = shaders;
    this.decoded = new Map();
    this.canvas = element("canvas");
    this.at = 0;
    this.playing = false;
    this.movedAt = -1e9;
    this.level = 1; // quality while moving, chosen by how long pictures take
    this.slow = 0;
    this.cutting = null;
    this.pointers = new Map();
  }

  async start() {
    const software = isSoftware();
    if (software === null) {
      this.say("This browser offers no WebGL2, so the 3-D playback cannot run. The picture above is the run's last frame; " +
               "plots, map and tables below do not need WebGL2. On a machine without a graphics card another browser may " +
               "draw by software, for example Firefox, or Chromium started with --enable-unsafe-swiftshader.");
      return;
    }
    this.software = software;
    await this.chooseRun(0);
    this.gl = this.canvas.getContext("webgl2", {antialias: !software, alpha: false, powerPreference: "high-performance"});
    if (!this.gl) throw new Error("WebGL2 is offered, but gives no context");
    this.scene = new Scene(this.gl, this.data, this.shaders);
    this.canvas.hidden = false;
    for (const id of ["controls", "legend", "moment", "scalebar"]) element(id).hidden = false;
    document.querySelectorAll(".still").forEach((still) => { still.hidden = true; });
    this.connect();
    this.fillControls();
    this.draw();
  }

  say(text) { element("message").textContent = text; }

  async chooseRun(number) {
    if (!this.decoded.has(number)) {
      const head = this.heads[number];
      this.say("Unpacking ...");
      const sections = await unpackSections(head.sections, this.texts[number]());
      this.decoded.set(number, decodeRun(head, sections));
      this.say("");
    }
    const before = this.data;
    this.number = number;
    this.data = this.decoded.get(number);
    const run = this.data.run;
    this.at = Math.min(this.at, run.frames - 1);
    this.poses = new Float32Array(7 * run.bodies);
    this.colours = new Uint8Array(4 * run.bodies).fill(255);
    if (!before || !this.camera) {
      const local = (p) => sub(p, run.place.low);
      this.camera = new Camera(local(run.camera.from), local(run.camera.at), run.camera.fov);
      const d = unit(sub(this.camera.eye(), this.camera.at)), flat = unit([d[0], d[1], 0]), side = [-flat[1], flat[0], 0];
      this.sun = unit([...unit(add(flat.map((x) => 0.45 * x), side, -0.9)).slice(0, 2).map((x) => 0.77 * x), 0.64]);
      this.at = run.frames - 1;
    }
    this.cutMiddle = this.data.middle;
  }

  // ---- controls ----

  fillControls() {
    const run = this.data.run, scrub = element("scrub");
    scrub.max = run.frames - 1;
    const option = (value, text) => Object.assign(document.createElement("option"), {value, textContent: text});
    const duration = run.time[run.frames - 1] - run.time[0];
    const usual = duration > 3 && duration < 45 ? 1 : Number((duration / 12).toPrecision(1)) || 1;
    element("speed").replaceChildren(...[0.1, 0.25, 0.5, 1, 2, 4].map((f) =>
      option(f * usual, f * usual === 1 ? "as it was" : `${readable(f * usual)} s a second`)));
    element("speed").value = usual;
    const colour = element("colour"), chosen = colour.value;
    colour.replaceChildren(...this.data.fields.map((f) => option(f.key, f.label)));
    if (this.data.fields.some((f) => f.key === chosen)) colour.value = chosen;
    const select = element("run");
    select.replaceChildren(...this.heads.map((h, i) => option(i, h.label)));
    select.value = this.number;
    element("runlabel").hidden = this.heads.length < 2;
    const kinds = [["grains", "grains", true, true], ["ground", "ground", !!this.data.ground, true], ["paths", "paths", !!this.data.paths, run.paths],
                   ["bonds", "membrane or net", !!this.data.bonds, true], ["platens", "platens", this.data.motion.flags.some((f) => f & aboutGuided), true],
                   ["walls", "walls", !!this.data.walls, true]];
    element("layers").replaceChildren(...kinds.filter((k) => k[2]).map(([key, text, , on]) => {
      const box = Object.assign(document.createElement("input"), {type: "checkbox", checked: this.shown ? this.shown[key] !== false : on, id: "show-" + key});
      const label = document.createElement("label");
      label.append(box, " " + text);
      box.addEventListener("change", () => this.draw());
      return label;
    }));
    element("clockrow").hidden = run.frames < 2;
    element("compass").hidden = !run.compass;
    element("drapelabel").hidden = !(run.ground && run.ground.drapes.length);
    if (run.ground) element("drape").replaceChildren(option("", "relief"), ...run.ground.drapes.map((d) => option(d.key, d.label)));
  }

  connect() {
    const on = (id, event, act) => element(id).addEventListener(event, act);
    on("play", "click", () => this.play(!this.playing));
    on("first", "click", () => this.go(0));
    on("back", "click", () => this.step(-1));
    on("forward", "click", () => this.step(1));
    on("scrub", "input", () => this.go(Number(element("scrub").value)));
    on("smooth", "change", () => { this.at = Math.round(this.at); this.draw(); });
    for (const id of ["colour", "map", "enlarge", "quality", "cutangle", "cutplace"]) on(id, "input", () => this.draw());
    on("cut", "change", () => {
      element("cutcontrols").hidden = !element("cut").checked;
      if (element("cut").checked) element("cutangle").value = Math.round(((this.camera.azimuth * 180) / Math.PI + 360) % 360);
      this.draw();
    });
    on("drape", "change", () => this.loadDrape());
    on("reset", "click", () => { this.camera.reset(); this.draw(); });
    on("top", "click", () => this.fromAbove());
    on("full", "click", () => this.fullScreen());
    on("run", "change", async () => {
      try {
        this.play(false);
        await this.chooseRun(Number(element("run").value));
        this.scene = new Scene(this.gl, this.data, this.shaders);
        this.fillControls();
        this.draw();
      } catch (error) {
        this.fail(error);
      }
    });
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => this.pointerDown(e));
    canvas.addEventListener("pointermove", (e) => this.pointerMove(e));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => this.pointerUp(e));
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("wheel", (e) => {
      if (document.activeElement !== canvas) return;
      e.preventDefault();
      this.camera.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.004));
      this.moved();
    }, {passive: false});
    canvas.addEventListener("webglcontextlost", (e) => {
      e.preventDefault();
      this.lost = true;
      this.say("The graphics card was taken away from this page for a moment; the view comes back by itself.");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.say("");
      this.scene = new Scene(this.gl, this.data, this.shaders);
      this.draped = null;
      this.loadDrape();
      this.draw();
    });
    element("player").addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = /^(SELECT|INPUT)$/.test(e.target.tagName) && e.target.type !== "checkbox";
    const turn = 0.08, keys = {
      " ": () => this.play(!this.playing), ",": () => this.step(-1), ".": () => this.step(1),
      Home: () => this.go(0), End: () => this.go(this.data.run.frames - 1),
      l: () => element("loop").click(), c: () => element("cut").click(),
      r: () => { this.camera.reset(); this.draw(); }, t: () => this.fromAbove(), f: () => this.fullScreen(),
      "+": () => { this.camera.zoom(0.85); this.moved(); }, "-": () => { this.camera.zoom(1 / 0.85); this.moved(); },
      "=": () => { this.camera.zoom(0.85); this.moved(); },
    };
    const arrows = {ArrowLeft: [-turn, 0], ArrowRight: [turn, 0], ArrowUp: [0, turn], ArrowDown: [0, -turn]};
    if (e.target === this.canvas && arrows[e.key]) {
      this.camera.orbit(-arrows[e.key][0], arrows[e.key][1]);
      this.moved();
    } else if (!typing && keys[e.key] && !(e.key === " " && e.target.tagName !== "CANVAS")) {
      keys[e.key]();
    } else {
      return;
    }
    e.preventDefault();
  }

  pointerDown(e) {
    this.canvas.focus({preventScroll: true});
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, {x: e.clientX, y: e.clientY, way: 0});
    e.preventDefault();
  }

  pointerMove(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    const {clientWidth: w, clientHeight: h} = this.canvas, dx = e.clientX - p.x, dy = e.clientY - p.y;
    const others = [...this.pointers.entries()].filter(([id]) => id !== e.pointerId).map(([, q]) => q);
    if (others.length) {
      const o = others[0], before = Math.hypot(p.x - o.x, p.y - o.y), now = Math.hypot(e.clientX - o.x, e.clientY - o.y);
      if (before > 0 && now > 0) this.camera.zoom(before / now);
      this.camera.pan((0.5 * dx) / h, (0.5 * dy) / h, w, h);
    } else if (e.shiftKey || e.buttons & 6) {
      this.camera.pan(dx / h, dy / h, w, h);
    } else {
      this.camera.orbit((3 * dx) / h, (3 * dy) / h);
    }
    p.x = e.clientX;
    p.y = e.clientY;
    p.way += Math.abs(dx) + Math.abs(dy);
    this.moved();
  }

  pointerUp(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    if (p && p.way < 4 && e.type === "pointerup") this.pick(e);
  }

  fromAbove() {
    this.camera.elevation = 1.55;
    this.camera.azimuth = -Math.PI / 2;
    this.draw();
  }

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (element("player").requestFullscreen) element("player").requestFullscreen().catch(() => {});
  }

  // ---- clock ----

  play(on) {
    this.playing = on && this.data.run.frames > 1;
    const button = element("play");
    button.textContent = this.playing ? "❚❚" : "▶";
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    if (this.playing && this.at >= this.data.run.frames - 1) this.at = 0;
    this.last = performance.now();
    this.clock = this.data.run.time[Math.floor(this.at)];
    if (this.playing) this.next();
    else this.draw();
  }

  go(frame) {
    this.at = Math.max(0, Math.min(this.data.run.frames - 1, frame));
    this.clock = this.data.run.time[Math.floor(this.at)];
    this.draw();
  }

  step(by) {
    if (this.playing) this.play(false);
    this.go(Math.round(this.at) + by);
  }

  next() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      if (this.playing) this.advance(now);
      this.drawNow(now);
      if (this.playing || now - this.movedAt < 400) this.next();
    });
  }

  advance(now) {
    const {time, frames} = this.data.run, end = time[frames - 1];
    this.clock += (Math.min(250, now - this.last) / 1000) * Number(element("speed").value);
    this.last = now;
    if (this.clock > end) {
      if (element("loop").checked) this.clock = time[0];
      else {
        this.clock = end;
        this.play(false);
      }
    }
    let f = Math.floor(this.at);
    if (time[f] > this.clock) f = 0;
    while (f + 1 < frames && time[f + 1] <= this.clock) f++;
    const part = f + 1 < frames ? (this.clock - time[f]) / (time[f + 1] - time[f]) : 0;
    this.at = element("smooth").checked ? f + part : f;
  }

  moved() {
    this.movedAt = performance.now();
    this.next();
  }

  draw() { if (this.scene) this.next(); }

  // ---- drawing ----

  // Between pictures that follow each other: coarser when they come slowly, finer when they come fast.
  chooseLevel(now, moving) {
    const quality = element("quality").value, since = now - (this.drawnAt || 0);
    this.drawnAt = now;
    if (quality !== "auto") return Number(quality);
    if (!moving) return 2;
    if (this.wasMoving && since < 1000) {
      this.slow = since > 55 ? Math.max(1, this.slow + 1) : since < 20 ? Math.min(-1, this.slow - 1) : 0;
      if (this.slow > 3) [this.level, this.slow] = [Math.max(0, this.level - 1), 0];
      if (this.slow < -40) [this.level, this.slow] = [Math.min(2, this.level + 1), 0];
    }
    return this.level;
  }

  field() { return this.data.fields.find((f) => f.key === element("colour").value) || this.data.fields[0]; }

  fillColours(frame) {
    const {motion} = this.data, field = this.field(), map = element("map").value, table = new Uint8Array(4 * 257);
    for (let i = 0; i <= 256; i++) table.set([...mapColour(map, i / 256), 255], 4 * i);
    for (let b = 0; b < motion.bodies; b++) {
      let colour;
      if (motion.isGuided(b)) colour = [120, 120, 124];
      else if (field.key === "id") colour = ownColour(motion.id[b]);
      else {
        const value = field.value(b, frame), t = (value - field.colourLow) / (field.colourHigh - field.colourLow);
        const k = 4 * Math.round(256 * Math.max(0, Math.min(1, t)));
        colour = Number.isFinite(value) ? table.subarray(k, k + 3) : [150, 150, 150];
      }
      this.colours.set(colour, 4 * b);
    }
  }

  cutPlane() {
    if (!element("cut").checked) return null;
    const angle = (Number(element("cutangle").value) * Math.PI) / 180, n = [Math.cos(angle), Math.sin(angle), 0];
    const along = (Number(element("cutplace").value) / 200) * this.data.run.extent;
    const middle = sub(this.data.run.camera.at, this.data.run.place.low);
    return [...n, -(dot(n, middle) + along)];
  }

  shot(level) {
    const ratio = [0.75, 1, Math.max(1, Math.min(2, window.devicePixelRatio || 1))][level], canvas = this.canvas;
    const width = Math.max(2, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(2, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
    const frame = Math.floor(this.at), show = {};
    for (const key of ["grains", "ground", "paths", "bonds", "platens", "walls"]) show[key] = element("show-" + key) ? element("show-" + key).checked : false;
    this.shown = show;
    this.fillColours(frame);
    const drape = this.draped && element("drape").value ? this.draped : null;
    return {camera: this.camera, width, height, frame, at: this.at, smooth: element("smooth").checked && this.at !== frame,
            colours: this.colours, poses: this.poses, show, enlarge: Number(element("enlarge").value), cut: this.cutPlane(),
            sun: this.sun, shadows: level > 1, fine: level > 0, detail: [0.5, 0.8, 1.3][level], drape};
  }

  drawNow(now) {
    if (!this.scene || this.lost || this.gl.isContextLost()) return;
    const moving = this.playing || now - this.movedAt < 300, level = this.chooseLevel(now, moving);
    this.wasMoving = moving;
    try {
      this.scene.draw(this.shot(level));
    } catch (error) {
      this.fail(error);
      return;
    }
    this.showState();
  }

  fail(error) {
    this.play(false);
    this.scene = null;
    this.say("The 3-D playback stopped: " + error.message);
  }

  showState() {
    const {run} = this.data, f = Math.floor(this.at), between = this.at !== f;
    element("scrub").value = f;
    const t = between ? this.clock : run.time[f];
    const text = run.frames > 1 ? `${run.clock || "time"} ${formatTime(t, run)} s, frame ${f + 1} of ${run.frames}` +
                                  (run.stride > 1 ? ` (every ${run.stride}th of the run's)` : "") : run.moment || "";
    element("moment").textContent = text + (between ? "; between frames: drawn, not computed" : "");
    element("scrub").setAttribute("aria-valuetext", text);
    this.showLegend();
    this.showCompass();
    markCharts(this.number, t);
  }

  showLegend() {
    const field = this.field(), bar = element("legendbar"), map = element("map").value, key = [field.key, map, this.number, element("enlarge").value].join();
    if (this.legendKey === key) return;
    this.legendKey = key;
    const own = field.key === "id", pen = bar.getContext("2d"), enlarge = Number(element("enlarge").value);
    bar.hidden = own;
    for (let x = 0; x < bar.width && !own; x++) {
      pen.fillStyle = `rgb(${mapColour(map, x / (bar.width - 1)).join()})`;
      pen.fillRect(x, 0, 1, bar.height);
    }
    element("legendtitle").textContent = (own ? "a colour of its own for each grain" : field.label + (field.unit ? ` [${field.unit}]` : "")) +
      (enlarge > 1 ? `; grains drawn ${enlarge} times their size` : "") + (field.note ? `; ${field.note}` : "") + (field.high > 1.001 * field.colourHigh ? "; few have more" : "");
    element("legendticks").replaceChildren(...(own ? [] : niceTicks(field.colourLow, field.colourHigh, 4)).map((x) => {
      const tick = Object.assign(document.createElement("span"), {textContent: readable(x)});
      tick.style.left = `${(100 * (x - field.colourLow)) / (field.colourHigh - field.colourLow)}%`;
      return tick;
    }));
  }

  // North arrow, seen as it lies; a bar whose length holds where the camera looks at.
  showCompass() {
    const frame = this.camera.frame(this.canvas.clientWidth, this.canvas.clientHeight), x = frame.right[1], y = frame.up[1];
    const angle = (Math.atan2(x, y) * 180) / Math.PI, size = Math.max(0.25, Math.hypot(x, y));
    element("needle").setAttribute("transform", `rotate(${angle.toFixed(1)}) scale(1 ${size.toFixed(2)})`);
    const reach = 18 * size + 3, rad = (angle * Math.PI) / 180;
    element("northmark").setAttribute("x", (-0.45 * reach * Math.sin(rad)).toFixed(1));
    element("northmark").setAttribute("y", (0.45 * reach * Math.cos(rad) + 4).toFixed(1));
    const pixel = (2 * frame.tanY * this.camera.distance) / this.canvas.clientHeight, far = 110 * pixel;
    const power = 10 ** Math.floor(Math.log10(far)), length = [5, 2, 1].map((k) => k * power).find((s) => s <= far) || power;
    element("scaleline").style.width = `${(length / pixel).toFixed(1)}px`;
    const unitName = length >= 1000 ? [1e-3, "km"] : length >= 0.5 ? [1, "m"] : length >= 1e-3 ? [1e3, "mm"] : [1e6, "µm"];
    element("scaletext").textContent = `${readable(length * unitName[0])} ${unitName[1]}, in the middle of the view`;
  }

  loadDrape() {
    const key = element("drape").value, drape = key && this.data.run.ground.drapes.find((d) => d.key === key);
    if (!drape) {
      this.draw();
      return;
    }
    // colours of a grid of bytes: 0 nothing, else 1 to 255 on the map
    const bytes = this.data.drapes[key], pixels = new Uint8Array(4 * bytes.length);
    for (let i = 0; i < bytes.length; i++)
      if (bytes[i]) pixels.set([...mapColour(element("map").value, (bytes[i] - 1) / 254), 200], 4 * i);
    this.scene.drape(pixels, drape.nx, drape.ny);
    const low = this.data.run.place.low;
    this.draped = [drape.x0 - low[0], drape.y0 - low[1], 1 / (drape.cell * drape.nx), 1 / (drape.cell * drape.ny)];
    this.draw();
  }

  // The grain under the pointer: the nearest whose sphere of equal volume the ray meets.
  pick(e) {
    const box = this.canvas.getBoundingClientRect(), {motion, run} = {motion: this.data.motion, run: this.data.run};
    const w = box.width, h = box.height, frame = this.camera.frame(w, h), eye = this.camera.eye(), f = Math.floor(this.at);
    const u = (2 * (e.clientX - box.left)) / w - 1, v = 1 - (2 * (e.clientY - box.top)) / h;
    const ray = unit(add(add(frame.back.map((x) => -x), frame.right, u * frame.tanX), frame.up, v * frame.tanY));
    const enlarge = Number(element("enlarge").value), pixel = (2 * frame.tanY) / h;
    let best = -1, nearest = Infinity;
    for (let b = 0; b < motion.bodies; b++) {
      if (motion.isNet(b) || motion.isGuided(b) || !motion.there(b, f)) continue;
      const i = 3 * (b * run.frames + f), d = sub(motion.place.subarray(i, i + 3), eye), along = dot(d, ray);
      const r = 0.5 * this.data.diameter[motion.shape[b]] * motion.scale[b] * enlarge + 2 * pixel * along;
      const miss = dot(d, d) - along * along;
      if (along > 0 && miss < r * r && along < nearest) [best, nearest] = [b, along];
    }
    const out = element("picked");
    out.hidden = best < 0;
    if (best < 0) return;
    const i = 3 * (best * run.frames + f), low = run.place.low, origin = run.origin || [0, 0, 0];
    const place = [0, 1, 2].map((c) => (motion.place[i + c] + low[c] + origin[c]).toFixed(run.digits));
    out.textContent = `grain ${motion.id[best]}: ` + this.data.fields.filter((q) => q.key !== "id").map((q) =>
      `${q.label} ${readable(q.value(best, f))} ${q.unit}`.trim()).join(", ") + `; centre at ${place.join(", ")} m` + (run.origin ? " (map coordinates)" : "");
  }

  // ---- for scripts ----

  // {frame, from, at, fov, colour, map, quality, cut, show: {layer: true or false}}; places in metres of the run.
  show(what) {
    const low = this.data.run.place.low;
    if (what.from && what.at) this.camera.look(sub(what.from, low), sub(what.at, low));
    if (what.fov) this.camera.fov = what.fov;
    for (const key of ["colour", "map", "quality", "enlarge"]) if (what[key] !== undefined) element(key).value = what[key];
    if (what.cut !== undefined) {
      element("cut").checked = !!what.cut;
      element("cutcontrols").hidden = !what.cut;
      if (what.cut) [element("cutangle").value, element("cutplace").value] = what.cut;
    }
    for (const [key, on] of Object.entries(what.show || {})) if (element("show-" + key)) element("show-" + key).checked = on;
    if (what.frame !== undefined) this.at = what.frame;
    this.movedAt = -1e9;
    this.drawNow(performance.now());
  }

  // The picture as it is now: {width, height, rgba}, rows from below.
  pixels() {
    this.scene.draw(this.shot(this.chooseLevel(performance.now(), false)));
    const {gl} = this, {width, height} = this.canvas, rgba = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
    return {width, height, rgba};
  }
}

function formatTime(t, run) {
  const digits = Math.max(0, Math.min(8, Math.ceil(-Math.log10((run.time[1] - run.time[0]) || 1)) + 1));
  return t.toFixed(digits);
}

// A line at the moment that is shown, in all plots over the run's time.
function markCharts(number, t) {
  for (const line of document.querySelectorAll(`line.now[data-run="${number}"]`)) {
    const d = line.dataset, part = (t - d.t0) / (d.t1 - d.t0), x = Number(d.x0) + part * (d.x1 - d.x0);
    line.setAttribute("x1", x.toFixed(1));
    line.setAttribute("x2", x.toFixed(1));
    line.setAttribute("visibility", part >= 0 && part <= 1 ? "visible" : "hidden");
  }
}

async function startPlayer() {
  if (!element("player")) return;
  const heads = [...document.querySelectorAll("script.head")].map((s) => JSON.parse(s.textContent));
  const texts = [...document.querySelectorAll("script.data")].map((s) => () => s.textContent);
  const shaders = {};
  for (const s of document.querySelectorAll("script.shader")) shaders[s.dataset.name] = s.textContent;
  const player = new Player(heads, texts, shaders);
  window.talusReport = {player, show: (what) => player.show(what), pixels: () => player.pixels()};
  try {
    await player.start();
  } catch (error) {
    player.say("The 3-D playback cannot start: " + error.message + ". The file may have been changed on its way; the plots and tables of this page are drawn without it.");
  }
  document.documentElement.dataset.ready = player.scene ? "playback" : "still";
}

startPlayer();
