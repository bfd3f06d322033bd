// Colour maps: plasma (Smith and van der Walt, CC0) without its darkest end, and cividis (Nunez,
// Anderton, Renslow 2018, CC0), at evenly spaced knots.
const colourMaps = {
  plasma: [[62, 4, 156], [92, 1, 166], [126, 3, 168], [156, 23, 158], [182, 48, 139], [204, 71, 120],
           [222, 95, 101], [237, 121, 83], [248, 149, 64], [253, 180, 47], [251, 214, 36], [240, 249, 33]],
  cividis: [[0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115], [138, 134, 120],
            [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56]],
};

function mapColour(name, t) {
  const knots = colourMaps[name], x = Math.max(0, Math.min(1, t)) * (knots.length - 1);
  const k = Math.min(knots.length - 2, Math.floor(x)), f = x - k;
  return knots[k].map((c, i) => Math.round(c + f * (knots[k + 1][i] - c)));
}

// A colour of its own for a number: bright, neighbours differ (golden ratio of the hue circle).
function ownColour(n) {
  const hue = (6 * ((n * 0.61803398875) % 1)) % 6, bright = 0.6 + 0.35 * ((n * 0.7548776662) % 1);
  return [Math.abs(hue - 3) - 1, 2 - Math.abs(hue - 2), 2 - Math.abs(hue - 4)].map(
    (c) => Math.round(255 * bright * (1 - 0.62 * (1 - Math.max(0, Math.min(1, c))))));
}

// Round numbers from low to high, about `count` of them.
function niceTicks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999) || 10 * power;
  const ticks = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step)
    ticks.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  return ticks;
}

// A number for readers: three digits, no zeros at the end.
function readable(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(x.toPrecision(3)));
}
