// SHA-256 (FIPS 180-4) of data that arrives in parts. `crypto.subtle` needs all of it at once, and a secure context.

const roots = (count, power) => {
  const numbers = [];
  for (let n = 2; numbers.length < count; n += 1) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d += 1) isPrime &&= n % d !== 0;
    if (isPrime) numbers.push(((n ** power) % 1) * 2 ** 32);
  }
  return numbers;
};
// The first 32 bits of the fractional parts of the cube and square roots of the first primes (4.2.2 and 5.3.3).
const constants = Int32Array.from(roots(64, 1 / 3), (n) => n | 0);
const initial = Int32Array.from(roots(8, 1 / 2), (n) => n | 0);

export class SHA256 {
  #state = Int32Array.from(initial);
  #schedule = new Int32Array(64);
  #block = new Uint8Array(64);
  #length = 0;

  /** Adds the bytes of a Uint8Array. */
  update(bytes) {
    let offset = 0;
    const filled = this.#length % 64;
    this.#length += bytes.length;
    if (filled > 0) {
      offset = Math.min(64 - filled, bytes.length);
      this.#block.set(bytes.subarray(0, offset), filled);
      if (filled + offset < 64) return this;
      this.#compress(this.#block, 0);
    }
    for (; offset + 64 <= bytes.length; offset += 64) this.#compress(bytes, offset);
    this.#block.set(bytes.subarray(offset));
    return this;
  }

  /** Returns the digest as 64 hexadecimal digits. Nothing may be added afterwards. */
  digest() {
    const length = this.#length;
    const padding = new Uint8Array(((length % 64) < 56 ? 64 : 128) - (length % 64));
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padding.length - 4, (length * 8) % 2 ** 32);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #compress(bytes, offset) {
    const w = this.#schedule;
    for (let i = 0, at = offset; i < 16; i += 1, at += 4) {
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    const s = this.#state;
    let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
  }
}
