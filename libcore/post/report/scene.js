// What is drawn, by plain WebGL2. All that the graphics card holds is made from `data` by the
// constructor, so a lost context is made good by a new Scene.

const levelRadius = [34, 11]; // pixels of a grain's radius from which the finer levels are drawn
const poseBytes = 36;         // place, scale, turn: 8 floats; colour: 4 bytes

class Scene {
  constructor(gl, data, shaders) {
    this.gl = gl;
    this.data = data;
    this.shaders = shaders;
    this.programs = new Map();
    this.grains = this.makeGrains();
    if (data.ground) {
      this.ground = this.makeGround(1);
      this.coarseGround = this.makeGround(data.ground.coarse);
    }
    if (data.walls) this.walls = this.makeWalls();
    if (data.paths) this.paths = this.makeLines(data.paths.place, data.paths.index);
    if (data.bonds) this.bonds = this.makeLines(new Float32Array(3 * data.bonds.count), data.bonds.index);
    this.shadow = null;
    this.picture = this.makePicture();
    gl.enable(gl.DEPTH_TEST);
  }

  // A program of two shaders with switches (#define), made when it is first drawn with.
  program(vertex, fragment, switches) {
    const key = [vertex, fragment, ...switches].join(" ");
    if (this.programs.has(key)) return this.programs.get(key);
    const {gl} = this, head = "#version 300 es\nprecision highp float;\n" + switches.map((s) => `#define ${s}\n`).join("");
    const handle = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, this.shaders[vertex + ".vert"]],
                                [gl.FRAGMENT_SHADER, (fragment === "line" || fragment === "depth" ? "" : this.shaders.light) +
                                                     this.shaders[fragment + ".frag"]]]) {
      const shader = gl.createShader(type);
      const light = type === gl.VERTEX_SHADER && switches.includes("COARSE") ? this.shaders.light : "";
      gl.shaderSource(shader, head + light + text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error(`${key}: ${gl.getShaderInfoLog(shader)}`);
      gl.attachShader(handle, shader);
    }
    gl.linkProgram(handle);
    if (!gl.getProgramParameter(handle, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(`${key}: ${gl.getProgramInfoLog(handle)}`);
    const at = {};
    for (let i = 0; i < (gl.getProgramParameter(handle, gl.ACTIVE_UNIFORMS) || 0); i++) {
      const name = gl.getActiveUniform(handle, i).name;
      at[name] = gl.getUniformLocation(handle, name);
    }
    const program = {handle, at};
    this.programs.set(key, program);
    return program;
  }

  buffer(target, array, usage) {
    const {gl} = this, buffer = gl.createBuffer();
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, array, usage || gl.STATIC_DRAW);
    return buffer;
  }

  attribute(location, size, type, normalised, stride, offset, divisor) {
    const {gl} = this;
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalised, stride, offset);
    if (divisor) gl.vertexAttribDivisor(location, divisor);
  }

  // Places (three floats) and normals (four signed bytes) with an index.
  mesh(place, normal, index) {
    const {gl} = this, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const buffer = this.buffer(gl.ARRAY_BUFFER, place);
    this.attribute(0, 3, gl.FLOAT, false, 0, 0);
    if (normal) {
      this.buffer(gl.ARRAY_BUFFER, normal);
      this.attribute(1, 4, gl.BYTE, true, 0, 0);
    }
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, index);
    gl.bindVertexArray(null);
    return {array, buffer, count: index.length};
  }

  makeGrains() {
    const {gl, data} = this, mesh = this.mesh(data.skins.place, data.skins.normal, data.skins.index);
    gl.bindVertexArray(mesh.array);
    const bytes = new ArrayBuffer(poseBytes * Math.max(1, data.motion.bodies));
    const poses = this.buffer(gl.ARRAY_BUFFER, bytes.byteLength, gl.DYNAMIC_DRAW);
    this.posesAt(0);
    gl.bindVertexArray(null);
    return {...mesh, poses, bytes, floats: new Float32Array(bytes), batches: []};
  }

  posesAt(instance) {
    const {gl} = this, o = poseBytes * instance;
    this.attribute(2, 4, gl.FLOAT, false, poseBytes, o, 1);
    this.attribute(3, 4, gl.FLOAT, false, poseBytes, o + 16, 1);
    this.attribute(4, 4, gl.UNSIGNED_BYTE, true, poseBytes, o + 32, 1);
  }

  // Every `every`-th sample of the heights, and walls down to the block's base round the border.
  makeGround(every) {
    const {nx, ny, cell, x0, y0, height, base} = this.data.ground;
    const pick = (n) => {
      const all = [];
      for (let i = 0; i < n - 1; i += every) all.push(i);
      all.push(n - 1);
      return all;
    };
    const xs = pick(nx), ys = pick(ny), place = [], index = [], normal = [];
    const z = (i, j) => height[Math.max(0, Math.min(ny - 1, j)) * nx + Math.max(0, Math.min(nx - 1, i))];
    const slope = (a, b, far) => (Number.isFinite(a) && Number.isFinite(b) ? (b - a) / far : 0);
    for (const j of ys)
      for (const i of xs) {
        const here = z(i, j);
        const dx = slope(z(i - every, j), z(i + every, j), cell * (Math.min(nx - 1, i + every) - Math.max(0, i - every)));
        const dy = slope(z(i, j - every), z(i, j + every), cell * (Math.min(ny - 1, j + every) - Math.max(0, j - every)));
        const s = 127 / Math.hypot(dx, dy, 1);
        place.push(x0 + cell * i, y0 + cell * j, Number.isFinite(here) ? here : base);
        normal.push(Math.round(-dx * s), Math.round(-dy * s), Math.round(s), 127);
      }
    const there = (a) => Number.isFinite(z(xs[a % xs.length], ys[Math.floor(a / xs.length)]));
    for (let j = 0; j + 1 < ys.length; j++)
      for (let i = 0; i + 1 < xs.length; i++) {
        const a = j * xs.length + i, b = a + 1, c = a + xs.length, d = c + 1;
        if (there(a) && there(b) && there(c) && there(d)) index.push(a, b, d, a, d, c);
      }
    const side = (list, nxn, nyn) => {
      for (let k = 0; k + 1 < list.length; k++) {
        if (!there(list[k]) || !there(list[k + 1])) continue;
        const first = place.length / 3;
        for (const v of [list[k], list[k + 1]])
          for (const low of [true, false]) {
            place.push(place[3 * v], place[3 * v + 1], low ? base : place[3 * v + 2]);
            normal.push(127 * nxn, 127 * nyn, 0, -127);
          }
        index.push(first, first + 2, first + 3, first, first + 3, first + 1);
      }
    };
    const w = xs.length, h = ys.length, row = (j) => xs.map((_, i) => j * w + i), column = (i) => ys.map((_, j) => j * w + i);
    side(row(0), 0, -1);
    side(row(h - 1).reverse(), 0, 1);
    side(column(0).reverse(), -1, 0);
    side(column(w - 1), 1, 0);
    return this.mesh(new Float32Array(place), new Int8Array(normal), new Uint32Array(index));
  }

  // Triangles of their own corners: walls have edges.
  makeWalls() {
    const {place, index} = this.data.walls, corners = new Float32Array(3 * index.length), normal = new Int8Array(4 * index.length);
    const order = new Uint32Array(index.length).map((_, i) => i);
    index.forEach((v, i) => corners.set(place.subarray(3 * v, 3 * v + 3), 3 * i));
    for (let t = 0; t < index.length; t += 3) {
      const p = [0, 1, 2].map((k) => [...corners.subarray(3 * (t + k), 3 * (t + k) + 3)]);
      const n = unit(cross(sub(p[1], p[0]), sub(p[2], p[0])));
      for (let k = 0; k < 3; k++) normal.set(n.map((x) => Math.round(127 * x)), 4 * (t + k));
    }
    return this.mesh(corners, normal, order);
  }

  makeLines(place, index) { return this.mesh(place, null, index); }

  // The picture that may be draped over the ground: a texture once it is there.
  makePicture() {
    const {gl} = this, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }

  drape(pixels, width, height) {
    const {gl} = this;
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  }

  // Poses of one moment, grouped by level and shape: what is drawn with one call lies together.
  placeGrains(shot) {
    const {gl, data, grains} = this, {motion, shapes} = data, {camera, width, height} = shot;
    const frame = camera.frame(width, height), eye = camera.eye(), forward = frame.back.map((x) => -x);
    const levels = data.levels, groups = new Int32Array(levels * shapes + 1), group = new Int32Array(motion.bodies).fill(-1);
    const pose = new Float32Array(7), all = shot.poses;
    const reachX = Math.hypot(1, frame.tanX), reachY = Math.hypot(1, frame.tanY);
    let shown = 0;
    for (let b = 0; b < motion.bodies; b++) {
      if (motion.isNet(b) || !motion.there(b, shot.frame)) continue;
      if (motion.isGuided(b) ? !shot.show.platens : !shot.show.grains) continue;
      if (shot.smooth) poseBetween(motion, b, shot.at, pose);
      else motion.pose(b, shot.frame, pose);
      all.set(pose, 7 * b);
      const scale = motion.scale[b] * (motion.isGuided(b) ? 1 : shot.enlarge);
      const radius = data.radius[motion.shape[b]] * scale, d = sub(pose, eye), depth = dot(d, forward);
      if (depth < -radius) continue;
      // outside the picture by more than its radius (shadows may still fall in: not with the map on)
      if (!shot.shadows && (Math.abs(dot(d, frame.right)) > depth * frame.tanX + radius * reachX ||
                            Math.abs(dot(d, frame.up)) > depth * frame.tanY + radius * reachY)) continue;
      const pixels = (radius / Math.max(depth, radius)) * (height / (2 * frame.tanY)) * shot.detail;
      const level = Math.min(levels - 1, pixels > levelRadius[0] ? 0 : pixels > levelRadius[1] ? 1 : 2);
      group[b] = level * shapes + motion.shape[b];
      groups[group[b] + 1]++;
      shown++;
    }
    for (let k = 0; k < levels * shapes; k++) groups[k + 1] += groups[k];
    grains.batches = [];
    for (let k = 0; k < levels * shapes; k++)
      if (groups[k + 1] > groups[k]) grains.batches.push({first: groups[k], count: groups[k + 1] - groups[k], part: data.skins.part[k]});
    const next = groups.slice(), floats = grains.floats, bytes = new Uint8Array(grains.bytes);
    for (let b = 0; b < motion.bodies; b++) {
      if (group[b] < 0) continue;
      const slot = next[group[b]]++, o = 9 * slot;
      floats[o] = all[7 * b];
      floats[o + 1] = all[7 * b + 1];
      floats[o + 2] = all[7 * b + 2];
      floats[o + 3] = motion.scale[b] * (motion.isGuided(b) ? 1 : shot.enlarge);
      floats[o + 4] = all[7 * b + 3];
      floats[o + 5] = all[7 * b + 4];
      floats[o + 6] = all[7 * b + 5];
      floats[o + 7] = all[7 * b + 6];
      bytes.set(shot.colours.subarray(4 * b, 4 * b + 4), poseBytes * slot + 32);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, grains.poses);
    if (shown) gl.bufferSubData(gl.ARRAY_BUFFER, 0, new Uint8Array(grains.bytes, 0, poseBytes * shown));
    return shown;
  }

  drawBatches() {
    const {gl, grains} = this;
    gl.bindVertexArray(grains.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, grains.poses);
    for (const batch of grains.batches) {
      this.posesAt(batch.first);
      gl.drawElementsInstanced(gl.TRIANGLES, batch.part.count, gl.UNSIGNED_INT, 4 * batch.part.first, batch.count);
    }
  }

  use(program, shot) {
    const {gl} = this, at = program.at;
    gl.useProgram(program.handle);
    gl.uniformMatrix4fv(at.u_view, false, shot.view);
    if (at.u_sun) gl.uniform3fv(at.u_sun, shot.sun);
    if (at.u_cut) gl.uniform4fv(at.u_cut, shot.cut || [0, 0, 0, -1]);
    if (at.u_eye) gl.uniform3fv(at.u_eye, shot.eye);
    if (at.u_shadow) {
      gl.uniformMatrix4fv(at.u_shadowView, false, shot.shadowView);
      gl.uniform1i(at.u_shadow, 1);
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
      gl.activeTexture(gl.TEXTURE0);
    }
    return at;
  }

  // Depth as the sun sees it, over the grains and what is round them.
  drawShadows(shot) {
    const {gl, data} = this, size = 1024;
    if (!this.shadow) {
      const texture = gl.createTexture(), target = gl.createFramebuffer();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
      for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
                                  [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
                                  [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL]])
        gl.texParameteri(gl.TEXTURE_2D, key, value);
      gl.bindFramebuffer(gl.FRAMEBUFFER, target);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
      this.shadow = {texture, target};
    }
    // a box along the sun's rays about the grains that are there, and their shadows' way down
    const {motion} = data, low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let b = 0; b < motion.bodies; b++) {
      if (motion.isNet(b) || !motion.there(b, shot.frame)) continue;
      const r = data.radius[motion.shape[b]] * motion.scale[b] * shot.enlarge;
      for (let c = 0; c < 3; c++) {
        low[c] = Math.min(low[c], shot.poses[7 * b + c] - r);
        high[c] = Math.max(high[c], shot.poses[7 * b + c] + r);
      }
    }
    if (!(high[0] >= low[0])) return;
    const middle = low.map((x, c) => 0.5 * (x + high[c])), radius = 0.55 * norm(sub(high, low)) + 1e-9;
    const back = shot.sun, right = unit(cross(Math.abs(back[2]) > 0.99 ? [0, 1, 0] : [0, 0, 1], back));
    const s = 1 / radius, flat = [s, 0, 0, 0, 0, s, 0, 0, 0, 0, -s, 0, 0, 0, 0, 1];
    shot.shadowView = product(flat, lookMatrix(middle, right, cross(back, right), back));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow.target);
    gl.viewport(0, 0, size, size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    const at = this.use(this.program("grain", "depth", shot.cut ? ["CUT"] : []), shot);
    gl.uniformMatrix4fv(at.u_view, false, shot.shadowView);
    this.drawBatches();
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // shot: camera, width, height, frame and at (frames, with a fraction), smooth, colours, poses,
  // show, enlarge, cut, sun, shadows, fine (ground and contour lines), detail.
  draw(shot) {
    const {gl, data} = this;
    shot.eye = shot.camera.eye();
    const far = norm(sub(shot.eye, data.middle)) + data.extent;
    shot.view = shot.camera.matrix(shot.width, shot.height, Math.max(far / 20000, 0.02 * shot.camera.distance), far * 1.2);
    this.placeGrains(shot);
    gl.disable(gl.BLEND);
    if (shot.shadows) this.drawShadows(shot);
    const shadow = shot.shadows && shot.shadowView ? ["SHADOW"] : [];
    gl.viewport(0, 0, shot.width, shot.height);
    gl.clearColor(0.87, 0.905, 0.935, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.CULL_FACE);
    if (shot.cut) gl.disable(gl.CULL_FACE);
    this.use(this.program("grain", "grain", shot.cut ? ["CUT", ...shadow] : shadow), shot);
    this.drawBatches();
    if (this.ground && shot.show.ground) {
      const at = this.use(this.program("ground", "ground", shot.fine ? ["LINES", ...shadow] : ["COARSE"]), shot);
      const g = data.ground;
      gl.uniform2f(at.u_heights, g.least, 1 / (g.most - g.least || 1));
      if (at.u_contour) gl.uniform1f(at.u_contour, g.contour);
      if (at.u_level) gl.uniform1f(at.u_level, g.level);
      gl.uniform1f(at.u_draped, shot.drape ? 1 : 0);
      gl.uniform4fv(at.u_drape, shot.drape || [0, 0, 1, 1]);
      gl.uniform1i(at.u_picture, 0);
      gl.bindTexture(gl.TEXTURE_2D, this.picture);
      gl.disable(gl.CULL_FACE);
      const mesh = shot.fine ? this.ground : this.coarseGround;
      gl.bindVertexArray(mesh.array);
      gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    }
    // many lines cost more than all else: the lowest quality leaves them to pictures that stand still
    if (this.paths && shot.show.paths && (shot.fine || data.paths.until[shot.frame] < 60000)) this.drawLines(this.paths, data.paths.until[shot.frame], [0.1, 0.25, 0.45, 1], shot);
    if (this.bonds && shot.show.bonds) {
      const net = data.bonds, place = new Float32Array(3 * net.count), pose = new Float32Array(7);
      for (let i = 0; i < net.count; i++) {
        data.motion.pose(net.body[i], shot.frame, pose);
        place.set(pose.subarray(0, 3), 3 * i);
      }
      const whole = net.index.filter((_, i) => bondLength(place, net.index, i >> 1) <= 2 * net.length[i >> 1]); // the others broke
      gl.bindBuffer(gl.ARRAY_BUFFER, this.bonds.buffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, place);
      gl.bindVertexArray(this.bonds.array);
      gl.bufferSubData(gl.ELEMENT_ARRAY_BUFFER, 0, whole);
      this.bonds.drawn = whole.length / 2;
      this.drawLines(this.bonds, whole.length, [0.25, 0.35, 0.45, 1], shot);
    }
    if (this.walls && shot.show.walls) this.drawWalls(shot, shadow);
  }

  drawLines(mesh, count, colour, shot) {
    const {gl} = this, at = this.use(this.program("line", "line", shot.cut ? ["CUT"] : []), shot);
    gl.uniform4fv(at.u_colour, colour);
    gl.bindVertexArray(mesh.array);
    gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, 0);
  }

  // Obstacles solid; containers as glass, after all else, without hiding each other. Planes hold grains on
  // one side: from there they are solid, from behind as glass.
  drawWalls(shot, shadow) {
    const {gl, data} = this, {walls} = data;
    const at = this.use(this.program("wall", "wall", shadow), shot);
    gl.uniform1f(at.u_grid, walls.grid);
    gl.bindVertexArray(this.walls.array);
    for (const glass of [false, true]) {
      if (glass) {
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        gl.depthMask(false);
      }
      gl.uniform4fv(at.u_colour, glass ? [0.72, 0.76, 0.8, 0.16] : [0.74, 0.73, 0.71, 1]);
      for (const part of walls.parts) {
        if (part.glass !== glass && !part.plane) continue;
        if (part.plane) {
          gl.enable(gl.CULL_FACE);
          gl.cullFace(glass ? gl.FRONT : gl.BACK);
        } else gl.disable(gl.CULL_FACE);
        const matrix = part.matrix ? part.matrix(shot.frame) : identity;
        if (!matrix) continue;
        gl.uniformMatrix4fv(at.u_part, false, matrix);
        gl.drawElements(gl.TRIANGLES, part.count, gl.UNSIGNED_INT, 4 * part.first);
      }
    }
    gl.cullFace(gl.BACK);
    gl.disable(gl.CULL_FACE);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}
