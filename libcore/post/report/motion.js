// Places and turns of the bodies, as libcore/post/report_motion.h packs them.

// Number `i` of `count`, from planes of bytes.
function fromPlanes(bytes, count, i, planes) {
  let value = 0;
  for (let p = 0; p < planes; p++) value += bytes[p * count + i] * 2 ** (8 * p);
  return value;
}

const unzigzag = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);

// Float32Array [body * frames + frame][3], metres from `low`.
function decodePlaces(run, sections) {
  const {bodies, frames} = run, count = 3 * bodies * frames;
  const bytes = sections.place, order = sections.order, step = run.place.step;
  if (bytes.length !== 4 * count || order.length !== 3 * bodies)
    throw new Error("the packed data are damaged: places of another number of bodies");
  const place = new Float32Array(count);
  for (let axis = 0; axis < 3; axis++)
    for (let b = 0; b < bodies; b++) {
      const line = axis * bodies + b, k = order[line];
      let q1 = 0, q2 = 0, q3 = 0;
      for (let f = 0; f < frames; f++) {
        const n = Math.min(f, k);
        const foretold = n === 0 ? 0 : n === 1 ? q1 : n === 2 ? 2 * q1 - q2 : 3 * q1 - 3 * q2 + q3;
        const q = foretold + unzigzag(fromPlanes(bytes, count, line * frames + f, 4));
        q3 = q2;
        q2 = q1;
        q1 = q;
        place[3 * (b * frames + f) + axis] = q * step;
      }
    }
  return place;
}

// Float32Array [body * frames + frame][4]: x, y, z, w; round bodies are not turned.
function decodeTurns(run, sections) {
  const {bodies, frames, turning, turnSteps} = run, count = turning * frames;
  const bytes = sections.turn, turn = new Float32Array(4 * bodies * frames);
  if (bytes.length !== 6 * count || sections.left.length !== count || sections.slow.length !== turning)
    throw new Error("the packed data are damaged: turns of another number of bodies");
  for (let i = count; i < bodies * frames; i++) turn[4 * i + 3] = 1;
  const q = [0, 0, 0, 0];
  for (let b = 0; b < turning; b++) {
    const steps = [0, 0, 0], slow = sections.slow[b];
    for (let f = 0; f < frames; f++) {
      const i = b * frames + f, left = sections.left[i] & 3;
      let rest = 1, k = 0;
      for (let c = 0; c < 4; c++) {
        if (c === left) continue;
        const value = fromPlanes(bytes, 3 * count, k * count + i, 2);
        const s = slow ? steps[k] + unzigzag(value) : value;
        steps[k++] = ((s % turnSteps) + turnSteps) % turnSteps;
        q[c] = ((2 * steps[k - 1]) / (turnSteps - 1) - 1) * Math.SQRT1_2;
        rest -= q[c] * q[c];
      }
      q[left] = Math.sqrt(Math.max(0, rest));
      turn[4 * i] = q[1];
      turn[4 * i + 1] = q[2];
      turn[4 * i + 2] = q[3];
      turn[4 * i + 3] = q[0];
    }
  }
  return turn;
}

// Angle between two unit quaternions in an array, radians.
function angleBetween(turn, i, j) {
  let dot = 0;
  for (let c = 0; c < 4; c++) dot += turn[4 * i + c] * turn[4 * j + c];
  return 2 * Math.acos(Math.min(1, Math.abs(dot)));
}

const mostTurn = Math.PI / 6; // beyond it a turn between two frames is not guessed

// Pose of body b at time `at` (frames, a fraction between two): seven numbers into `out`. The curve
// through four frames (Catmull-Rom), which says where a body may have been, not where it was.
function poseBetween(motion, b, at, out) {
  const {frames, place, turn} = motion, row = b * frames;
  const f = Math.min(frames - 1, Math.floor(at)), t = at - f;
  const i = row + f, j = row + Math.min(frames - 1, f + 1);
  if (t === 0 || i === j || !motion.there(b, f) || !motion.there(b, f + 1)) {
    for (let c = 0; c < 3; c++) out[c] = place[3 * i + c];
    for (let c = 0; c < 4; c++) out[3 + c] = turn[4 * i + c];
    return;
  }
  const before = f > 0 && motion.there(b, f - 1) ? i - 1 : i;
  const after = f + 2 < frames && motion.there(b, f + 2) ? j + 1 : j;
  for (let c = 0; c < 3; c++) {
    const p0 = place[3 * before + c], p1 = place[3 * i + c], p2 = place[3 * j + c], p3 = place[3 * after + c];
    const m1 = 0.5 * (p2 - p0), m2 = 0.5 * (p3 - p1), u = t * t, w = u * t;
    out[c] = (2 * w - 3 * u + 1) * p1 + (w - 2 * u + t) * m1 + (3 * u - 2 * w) * p2 + (w - u) * m2;
  }
  if (angleBetween(turn, i, j) > mostTurn) {
    const k = t < 0.5 ? i : j;
    for (let c = 0; c < 4; c++) out[3 + c] = turn[4 * k + c];
    return;
  }
  let dot = 0, size = 0;
  for (let c = 0; c < 4; c++) dot += turn[4 * i + c] * turn[4 * j + c];
  for (let c = 0; c < 4; c++) {
    out[3 + c] = (1 - t) * turn[4 * i + c] + (dot < 0 ? -t : t) * turn[4 * j + c];
    size += out[3 + c] * out[3 + c];
  }
  for (let c = 0; c < 4; c++) out[3 + c] /= Math.sqrt(size);
}
