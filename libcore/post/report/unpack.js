// Packed data: base 64 to bytes, zlib streams to bytes. Browsers unpack zlib by themselves
// (DecompressionStream); older ones get `inflate`, which checks the Adler-32 sum as they do.

// Text of base 64 -> Uint8Array.
function fromBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// RFC 1950 and 1951. Throws when the stream is damaged or does not give exactly `size` bytes.
function inflate(packed, size) {
  const out = new Uint8Array(size);
  let at = 2, written = 0, hold = 0, held = 0;
  const damaged = (what) => new Error("the packed data are damaged: " + what);
  if (packed.length < 6 || (packed[0] & 15) !== 8 || ((packed[0] << 8) | packed[1]) % 31 !== 0 ||
      packed[1] & 32)
    throw damaged("no zlib header");

  function bits(count) {
    while (held < count) {
      if (at >= packed.length) throw damaged("the stream ends early");
      hold |= packed[at++] << held;
      held += 8;
    }
    const value = hold & ((1 << count) - 1);
    hold >>>= count;
    held -= count;
    return value;
  }

  // Canonical Huffman code: how many codes of each length, symbols in order of their codes.
  function table(lengths) {
    const count = new Uint16Array(16), first = new Uint16Array(16);
    for (const n of lengths) count[n]++;
    count[0] = 0;
    for (let n = 1; n < 15; n++) first[n + 1] = first[n] + count[n];
    const symbol = new Uint16Array(lengths.length);
    lengths.forEach((n, s) => { if (n) symbol[first[n]++] = s; });
    return {count, symbol};
  }

  function decode(code) {
    let value = 0, start = 0, index = 0;
    for (let n = 1; n < 16; n++) {
      value |= bits(1);
      const count = code.count[n];
      if (value - count < start) return code.symbol[index + (value - start)];
      index += count;
      start = (start + count) << 1;
      value <<= 1;
    }
    throw damaged("an unknown code");
  }

  const lengthBase = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83,
                      99, 115, 131, 163, 195, 227, 258];
  const lengthExtra = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5,
                       5, 0];
  const farBase = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
                   1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
  const farExtra = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
                    12, 13, 13];
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

  function fixedCodes() {
    const lengths = new Array(288);
    for (let s = 0; s < 288; s++) lengths[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
    return [table(lengths), table(new Array(30).fill(5))];
  }

  function ownCodes() {
    const literals = bits(5) + 257, fars = bits(5) + 1, lengths = bits(4) + 4;
    const small = new Array(19).fill(0);
    for (let i = 0; i < lengths; i++) small[order[i]] = bits(3);
    const code = table(small), all = [];
    while (all.length < literals + fars) {
      const s = decode(code);
      if (s < 16) {
        all.push(s);
        continue;
      }
      if (s === 16 && all.length === 0) throw damaged("a repeat of nothing");
      const value = s === 16 ? all[all.length - 1] : 0;
      const times = s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7);
      for (let i = 0; i < times; i++) all.push(value);
    }
    if (all.length > literals + fars) throw damaged("too many code lengths");
    return [table(all.slice(0, literals)), table(all.slice(literals))];
  }

  function block(literal, far) {
    for (;;) {
      const s = decode(literal);
      if (s === 256) return;
      if (s < 256) {
        if (written >= size) throw damaged("too many bytes");
        out[written++] = s;
        continue;
      }
      if (s > 285) throw damaged("an unknown length");
      const length = lengthBase[s - 257] + bits(lengthExtra[s - 257]);
      const f = decode(far);
      if (f > 29) throw damaged("an unknown distance");
      const back = farBase[f] + bits(farExtra[f]);
      if (back > written || written + length > size) throw damaged("a copy out of bounds");
      for (let i = 0; i < length; i++, written++) out[written] = out[written - back];
    }
  }

  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      hold = held = 0;
      const n = packed[at] | (packed[at + 1] << 8), check = packed[at + 2] | (packed[at + 3] << 8);
      at += 4;
      if ((n ^ 0xffff) !== check || at + n > packed.length || written + n > size)
        throw damaged("a stored block out of bounds");
      out.set(packed.subarray(at, at + n), written);
      at += n;
      written += n;
    } else if (kind === 1) {
      block(...fixedCodes());
    } else if (kind === 2) {
      block(...ownCodes());
    } else {
      throw damaged("an unknown block");
    }
  }
  let a = 1, b = 0;
  for (let i = 0; i < size;) {
    const end = Math.min(size, i + 3800); // sums stay below 2^32
    for (; i < end; i++) {
      a += out[i];
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  const n = packed.length;
  const sum = ((packed[n - 4] << 24) | (packed[n - 3] << 16) | (packed[n - 2] << 8) | packed[n - 1]) >>> 0;
  if (written !== size || sum !== ((b << 16) | a) >>> 0) throw damaged("the check sum is another");
  return out;
}

async function unpack(packed, size) {
  if (typeof DecompressionStream === "undefined") return inflate(packed, size);
  let bytes;
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw new Error("the packed data are damaged"); // the browser's own words do not say how
  }
  if (bytes.length !== size) throw new Error("the packed data are damaged: wrong number of bytes");
  return bytes;
}

// All sections of a run by name. table: [{name, at, packed, size, difference}].
async function unpackSections(table, text) {
  let all;
  try {
    all = fromBase64(text);
  } catch (error) {
    throw new Error("the packed data are damaged: they are no base 64");
  }
  const sections = {};
  for (const s of table) {
    if (s.at + s.packed > all.length) throw new Error("the packed data are damaged: they end early");
    const bytes = await unpack(all.subarray(s.at, s.at + s.packed), s.size);
    if (s.difference) for (let i = 1; i < bytes.length; i++) bytes[i] += bytes[i - 1];
    sections[s.name] = bytes;
  }
  return sections;
}
