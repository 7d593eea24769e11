// Inflate (RFC 1951), because not every browser of the last five years has DecompressionStream.
function inflate(bytes) {
  let out = new Uint8Array(Math.max(1024, bytes.length * 8)), size = 0, at = 0, hold = 0, held = 0;
  const extraLength = [0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0];
  const baseLength = [3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258];
  const extraFar = [0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13];
  const baseFar = [1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577];
  function bits(count) {
    while (held < count) { hold |= bytes[at++] << held; held += 8; }
    const value = hold & ((1 << count) - 1); hold >>>= count; held -= count; return value;
  }
  function room(more) {
    if (size + more <= out.length) return;
    const wider = new Uint8Array(Math.max(out.length * 2, size + more)); wider.set(out); out = wider;
  }
  function tree(lengths) {
    const count = new Uint16Array(16), first = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    for (const length of lengths) if (length) count[length]++;
    for (let i = 1; i < 15; i++) first[i + 1] = first[i] + count[i];
    lengths.forEach((length, symbol) => { if (length) symbols[first[length]++] = symbol; });
    return { count, symbols };
  }
  function symbol(tree) {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; length++) {
      code |= bits(1);
      const count = tree.count[length];
      if (code - first < count) return tree.symbols[index + code - first];
      index += count; first = (first + count) << 1; code <<= 1;
    }
    throw new Error("the page's data are damaged");
  }
  const fixed = new Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  let last = 0;
  while (!last) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      hold = held = 0;
      const length = bytes[at] | (bytes[at + 1] << 8); at += 4; room(length);
      out.set(bytes.subarray(at, at + length), size); size += length; at += length;
      continue;
    }
    let literals, distances;
    if (kind === 1) { literals = tree(fixed); distances = tree(new Array(30).fill(5)); }
    else {
      const literal = bits(5) + 257, far = bits(5) + 1, codes = bits(4) + 4, lengths = new Array(19).fill(0);
      for (let i = 0; i < codes; i++) lengths[[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15][i]] = bits(3);
      const coded = tree(lengths), all = [];
      while (all.length < literal + far) {
        const what = symbol(coded);
        if (what < 16) all.push(what);
        else {
          const value = what === 16 ? all[all.length - 1] : 0;
          let times = what === 16 ? 3 + bits(2) : what === 17 ? 3 + bits(3) : 11 + bits(7);
          while (times--) all.push(value);
        }
      }
      literals = tree(all.slice(0, literal)); distances = tree(all.slice(literal));
    }
    for (;;) {
      let what = symbol(literals);
      if (what === 256) break;
      if (what < 256) { room(1); out[size++] = what; continue; }
      what -= 257;
      let length = baseLength[what] + bits(extraLength[what]);
      const code = symbol(distances), far = baseFar[code] + bits(extraFar[code]);
      room(length);
      while (length--) { out[size] = out[size - far]; size++; }
    }
  }
  return out.subarray(0, size);
}
