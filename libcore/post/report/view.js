// Small vectors, 4 x 4 matrices (column by column), and the camera.
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => a.map((x) => x / (norm(a) || 1));

function product(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + i] * b[4 * j + k];
      c[4 * j + i] = sum;
    }
  return c;
}

// World to the camera's axes: x right, y up, z towards the eye.
function lookMatrix(eye, right, up, back) {
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
          -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

const identity = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

// Looks at `at` from `distance` away; azimuth counter-clockwise from +x and elevation say where the
// eye stands. z is up. The field of view is that of the height; on upright screens that of the width.
class Camera {
  constructor(from, at, fov) {
    this.fov = fov;
    this.look(from, at);
    this.start = {from: this.eye(), at: [...at]};
  }

  look(from, at) {
    const d = sub(from, at);
    this.at = [...at];
    this.distance = norm(d) || 1;
    this.azimuth = Math.atan2(d[1], d[0]);
    this.elevation = Math.asin(Math.max(-1, Math.min(1, d[2] / this.distance)));
  }

  reset() { this.look(this.start.from, this.start.at); }

  back() {
    const c = Math.cos(this.elevation);
    return [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), Math.sin(this.elevation)];
  }

  eye() { return add(this.at, this.back(), this.distance); }

  // Half the field of view's tangents and the axes.
  frame(width, height) {
    const half = Math.tan((this.fov * Math.PI) / 360), aspect = width / height;
    const tanY = aspect < 1 ? half / aspect : half;
    const back = this.back(), right = [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0];
    return {tanX: tanY * aspect, tanY, right, back, up: cross(back, right)};
  }

  matrix(width, height, near, far) {
    const f = this.frame(width, height), s = 1 / (near - far);
    const lens = [1 / f.tanX, 0, 0, 0, 0, 1 / f.tanY, 0, 0, 0, 0, (near + far) * s, -1, 0, 0, 2 * near * far * s, 0];
    return product(lens, lookMatrix(this.eye(), f.right, f.up, f.back));
  }

  orbit(dx, dy) {
    this.azimuth -= dx;
    this.elevation = Math.max(-1.55, Math.min(1.55, this.elevation + dy));
  }

  // Parts of the picture's height.
  pan(dx, dy, width, height) {
    const f = this.frame(width, height), s = 2 * f.tanY * this.distance;
    this.at = add(add(this.at, f.right, -dx * s), f.up, dy * s);
  }

  zoom(factor) { this.distance *= factor; }
}
