// Numbers in half precision, two bytes each; recorded weights are stored as these.

export function to_halves(numbers) {
  const bits = new Uint32Array(Float32Array.from(numbers).buffer), made = new Uint16Array(bits.length);
  for (let n = 0; n < bits.length; ++n) {
    const sign = bits[n] >>> 16 & 0x8000, exponent = (bits[n] >>> 23 & 255) - 112, fraction = bits[n] & 0x7fffff;
    if (exponent >= 31) throw new Error(`${numbers[n]} is too large for half precision`);
    // below 2^-14: a multiple of 2^-24; if rounding carries, the carry goes into the exponent, which is correct
    const whole = exponent > 0 ? exponent << 23 | fraction : (fraction | 0x800000) >>> Math.min(31, 1 - exponent);
    made[n] = sign | (whole + 0x0fff + (whole >>> 13 & 1)) >>> 13;
  }
  return new Uint8Array(made.buffer);
}

export function from_halves(bytes) {
  const halves = new Uint16Array(bytes.slice().buffer);
  return Float32Array.from(halves, half => {
    const exponent = half >>> 10 & 31, fraction = half & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    return half & 0x8000 ? -size : size;
  });
}
