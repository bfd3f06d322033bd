// Surfaces of grains from the signs of their grid points, as libcore/post/report_skin.h packs them.

const skinSteps = 64; // steps of a vertex's place a cell side

// One level of one shape -> {place: Float32Array, normal: Int8Array (4 a vertex), index: array}.
// n: grid points along x, y, z; inside(i): is grid point i inside?; step(v, c): place in the cell.
function skinMesh(n, cell, origin, inside, vertexCount, step) {
  const strideY = n[0], strideZ = n[0] * n[1], points = strideZ * n[2];
  const sign = new Uint8Array(points), vertex = new Int32Array(points).fill(-1);
  for (let i = 0; i < points; i++) sign[i] = inside(i);
  const steps = new Int32Array(3 * vertexCount), place = new Float32Array(3 * vertexCount);
  let count = 0;
  for (let k = 0; k + 1 < n[2]; k++)
    for (let j = 0; j + 1 < n[1]; j++)
      for (let i = 0; i + 1 < n[0]; i++) {
        const p = k * strideZ + j * strideY + i, low = [i, j, k];
        const sum = sign[p] + sign[p + 1] + sign[p + strideY] + sign[p + strideY + 1] + sign[p + strideZ] +
                    sign[p + strideZ + 1] + sign[p + strideZ + strideY] + sign[p + strideZ + strideY + 1];
        if (sum === 0 || sum === 8) continue;
        if (count >= vertexCount) throw new Error("the packed data are damaged: a surface has more vertices");
        for (let c = 0; c < 3; c++) {
          const s = low[c] * skinSteps + step(count, c);
          steps[3 * count + c] = s;
          place[3 * count + c] = origin[c] + cell * (s / skinSteps - 0.5);
        }
        vertex[p] = count++;
      }
  if (count !== vertexCount) throw new Error("the packed data are damaged: a surface has fewer vertices");
  const index = [], stride = [1, strideY, strideZ];
  const apart = (a, b) => {
    let sum = 0;
    for (let c = 0; c < 3; c++) sum += (steps[3 * a + c] - steps[3 * b + c]) ** 2;
    return sum;
  };
  for (let k = 1; k + 1 < n[2]; k++)
    for (let j = 1; j + 1 < n[1]; j++)
      for (let i = 1; i + 1 < n[0]; i++)
        for (let axis = 0; axis < 3; axis++) {
          const p = k * strideZ + j * strideY + i, u = stride[(axis + 1) % 3], v = stride[(axis + 2) % 3];
          if (sign[p] === sign[p + stride[axis]]) continue;
          const q = [vertex[p], vertex[p - u], vertex[p - u - v], vertex[p - v]];
          if (!sign[p]) [q[1], q[3]] = [q[3], q[1]];
          const turn = apart(q[1], q[3]) < apart(q[0], q[2]) ? 1 : 0;
          for (let half = 0; half < 2; half++)
            for (let corner = 0; corner < 3; corner++) index.push(q[(turn + 2 * half + corner) % 4]);
        }
  return {place, index, normal: vertexNormals(place, index)};
}

// Sums of the area vectors of the triangles round each vertex, as signed bytes, four a vertex.
function vertexNormals(place, index) {
  const sum = new Float32Array(place.length), normal = new Int8Array((place.length / 3) * 4);
  for (let t = 0; t < index.length; t += 3) {
    const a = 3 * index[t], b = 3 * index[t + 1], c = 3 * index[t + 2];
    const ux = place[b] - place[a], uy = place[b + 1] - place[a + 1], uz = place[b + 2] - place[a + 2];
    const vx = place[c] - place[a], vy = place[c + 1] - place[a + 1], vz = place[c + 2] - place[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    for (const i of [a, b, c]) {
      sum[i] += nx;
      sum[i + 1] += ny;
      sum[i + 2] += nz;
    }
  }
  for (let v = 0; v < place.length / 3; v++) {
    const s = 127 / (Math.hypot(sum[3 * v], sum[3 * v + 1], sum[3 * v + 2]) || 1);
    for (let c = 0; c < 3; c++) normal[4 * v + c] = Math.round(s * sum[3 * v + c]);
  }
  return normal;
}

// All shapes and levels in one vertex and one index buffer. Result: {place, normal, index, part},
// part[level * shapes + shape] = {first, count} of the index buffer.
function decodeSkins(run, sections) {
  const levels = run.levels, parts = run.shapes * levels, head = new DataView(sections.skin.buffer, sections.skin.byteOffset);
  const meshes = [], part = [], point = sections.point, count = point.length / 3;
  let bit = 0, vertex = 0, vertices = 0, indices = 0;
  for (let m = 0; m < parts; m++) {
    const at = 32 * m, n = [0, 4, 8].map((o) => head.getInt32(at + o, true));
    const vertexCount = head.getInt32(at + 12, true), cell = head.getFloat32(at + 16, true);
    const origin = [20, 24, 28].map((o) => head.getFloat32(at + o, true));
    const bits = sections.sign, start = bit, first = vertex;
    const mesh = skinMesh(n, cell, origin, (i) => (bits[start + (i >> 3)] >> (i & 7)) & 1, vertexCount,
                          (v, c) => point[c * count + first + v]);
    bit += (n[0] * n[1] * n[2] + 7) >> 3;
    vertex += vertexCount;
    part.push({first: indices, count: mesh.index.length});
    meshes.push(mesh);
    vertices += vertexCount;
    indices += mesh.index.length;
  }
  const place = new Float32Array(3 * vertices), normal = new Int8Array(4 * vertices), index = new Uint32Array(indices);
  let v = 0, k = 0;
  for (const mesh of meshes) {
    place.set(mesh.place, 3 * v);
    normal.set(mesh.normal, 4 * v);
    for (const i of mesh.index) index[k++] = v + i;
    v += mesh.place.length / 3;
  }
  return {place, normal, index, part};
}
