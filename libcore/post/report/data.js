// From the page's head (JSON) and sections (bytes) to what the scene draws.

const aboutNet = 4, aboutGuided = 32; // bits of a body's flags: sphere of a net; on a piston

function decodeRun(run, sections) {
  const view = (name, type) => {
    const bytes = sections[name];
    return new type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  };
  const {bodies, frames} = run;
  const scale = view("scale", Float32Array), shape = view("shape", Int32Array), flags = view("flags", Int32Array);
  const size = view("size", Float32Array); // diameter and radius of each shape
  const seen = sections.speed;
  if (scale.length !== bodies || seen.length !== bodies * frames || size.length !== 2 * run.shapes)
    throw new Error("the packed data are damaged: another number of bodies");
  const motion = {
    bodies, frames, scale, shape, flags,
    id: view("id", Float64Array),
    place: decodePlaces(run, sections),
    turn: decodeTurns(run, sections),
    there: (b, f) => seen[b * frames + f] !== 0,
    isNet: (b) => (flags[b] & aboutNet) !== 0,
    isGuided: (b) => (flags[b] & aboutGuided) !== 0,
    pose(b, f, out) {
      const i = b * frames + f;
      for (let c = 0; c < 3; c++) out[c] = this.place[3 * i + c];
      for (let c = 0; c < 4; c++) out[3 + c] = this.turn[4 * i + c];
    },
  };
  const data = {
    run, motion, levels: run.levels, shapes: run.shapes,
    diameter: new Float32Array(run.shapes).map((_, i) => size[2 * i]),
    radius: new Float32Array(run.shapes).map((_, i) => size[2 * i + 1]),
    skins: decodeSkins(run, sections),
  };
  // the middle of all that moves, and how far it and the ground reach
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const reach = (x, y, z) => [x, y, z].forEach((v, c) => { low[c] = Math.min(low[c], v); high[c] = Math.max(high[c], v); });
  for (let i = 0; i < bodies * frames; i++) reach(...motion.place.subarray(3 * i, 3 * i + 3));
  if (run.ground) {
    data.ground = decodeGround(run, sections);
    const g = data.ground;
    data.drapes = Object.fromEntries(run.ground.drapes.map((d) => [d.key, sections[d.key]]));
    reach(g.x0, g.y0, g.base);
    reach(g.x0 + g.cell * (g.nx - 1), g.y0 + g.cell * (g.ny - 1), g.most);
  }
  if (run.walls) {
    data.walls = decodeWalls(run, view);
    for (let i = 0; i < data.walls.place.length; i += 3) reach(...data.walls.place.subarray(i, i + 3));
  }
  data.middle = low.map((x, c) => 0.5 * (x + high[c]));
  data.extent = Math.max(1e-6, norm(sub(high, low)));
  if (frames > 1) data.paths = pathLines(motion);
  if (run.bonds) {
    const body = [];
    for (let b = 0; b < bodies; b++) if (motion.isNet(b)) body.push(b);
    const index = view("bond", Uint32Array), pose = new Float32Array(7);
    const place = Float32Array.from(body.flatMap((b) => (motion.pose(b, 0, pose), [...pose.subarray(0, 3)])));
    const length = Float32Array.from({length: index.length / 2}, (_, k) => bondLength(place, index, k)); // in the first frame
    data.bonds = {index, body, count: body.length, length};
  }
  data.fields = run.fields.map((f) => ({...f, value: fieldValues(f, data, sections)}));
  return data;
}

// Value of a field for body b in frame f. Bytes are on a square-root scale from 1; 0 is no value.
function fieldValues(field, data, sections) {
  const {motion} = data;
  if (field.key === "size") return (b) => field.factor * data.diameter[motion.shape[b]] * motion.scale[b];
  if (field.key === "id") return (b) => motion.id[b];
  const bytes = sections[field.key];
  return (b, f) => {
    const n = bytes[b * motion.frames + f];
    return n ? field.high * ((n - 1) / 254) ** 2 : NaN;
  };
}

// Heights: each sample as the difference to what its three neighbours before foretell; 16 bits.
function decodeGround(run, sections) {
  const g = run.ground, count = g.nx * g.ny, q = new Int32Array(count), height = new Float32Array(count);
  const bytes = sections.ground;
  if (bytes.length !== 2 * count) throw new Error("the packed data are damaged: the ground has another size");
  let least = Infinity, most = -Infinity;
  for (let j = 0; j < g.ny; j++)
    for (let i = 0; i < g.nx; i++) {
      const at = j * g.nx + i, west = i > 0 ? q[at - 1] : 0, south = j > 0 ? q[at - g.nx] : 0;
      const foretold = i > 0 && j > 0 ? west + south - q[at - g.nx - 1] : west + south;
      q[at] = (foretold + bytes[at] + 256 * bytes[count + at]) & 65535;
      height[at] = q[at] === 65535 ? NaN : g.low + g.step * q[at];
      if (q[at] !== 65535) {
        least = Math.min(least, height[at]);
        most = Math.max(most, height[at]);
      }
    }
  const base = least - 0.08 * g.cell * Math.min(g.nx, g.ny);
  return {...g, height, least, most, base, coarse: Math.max(1, Math.ceil(Math.sqrt(count / 3000)))};
}

function decodeWalls(run, view) {
  const w = run.walls, place = view("wallplace", Float32Array), index = view("wallindex", Uint32Array);
  const drive = w.driven ? view("walldrive", Float32Array) : null;
  const parts = w.parts.map((p) => ({
    ...p,
    matrix: p.driven < 0 ? null : (frame) => {
      const at = 13 * (p.driven * run.frames + frame);
      if (drive[at + 12] === 0) return null; // not there
      const m = drive.subarray(at, at + 12);
      return new Float32Array([m[0], m[3], m[6], 0, m[1], m[4], m[7], 0, m[2], m[5], m[8], 0, m[9], m[10], m[11], 1]);
    },
  }));
  return {place, index, parts, grid: w.grid};
}

// Lines from frame to frame of each grain, those of earlier frames first; until[f]: how much of the
// index is of frames up to f.
// Of bond k, between the places of two spheres.
function bondLength(place, index, k) {
  const a = 3 * index[2 * k], b = 3 * index[2 * k + 1];
  return Math.hypot(place[a] - place[b], place[a + 1] - place[b + 1], place[a + 2] - place[b + 2]);
}

function pathLines(motion) {
  const {bodies, frames, place} = motion, index = [], until = [0];
  for (let f = 1; f < frames; f++) {
    for (let b = 0; b < bodies; b++)
      if (!motion.flags || !(motion.flags[b] & (aboutNet | aboutGuided)))
        if (motion.there(b, f) && motion.there(b, f - 1)) index.push(b * frames + f - 1, b * frames + f);
    until.push(index.length);
  }
  return {place, index: new Uint32Array(index), until};
}
