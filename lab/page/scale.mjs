// Scales and ticks of every axis.

// The distance between ticks: 1, 2 or 5 times a power of ten, at least `least`.
export function tick_step(least) {
  const power = 10 ** Math.floor(Math.log10(least)), times = least / power - 1e-9;
  return power * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
}
// About `wanted` ticks; only whole numbers if `whole`.
export function even_ticks(low, high, wanted, whole = false) {
  const least = (high - low) / wanted, step = tick_step(whole ? Math.max(1, least) : least), all = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    all.push(Number((n * step).toPrecision(12)) + 0);  // never -0
  return all;
}
// Powers of ten; if the axis spans few of them, also 2 and 5 times these.
export function log_ticks(low, high) {
  const few = Math.log10(high / low) < 2.5, all = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
    for (const digit of few ? [1, 2, 5] : [1]) {
      const tick = Number(`${digit}e${power}`);
      if (tick >= low * .999 && tick <= high * 1.001) all.push(tick);
    }
  return all;
}
// Every value, or every second one, ..., so that at most `wanted` remain.
export function some_of(values, wanted) {
  const sorted = [...new Set(values)].sort((a, b) => a - b), apart = Math.ceil(sorted.length / wanted);
  return sorted.filter((_, n) => n % apart === 0);
}

// Maps values low .. high to places `from` .. `to`, linearly in warp(value); inverse: the warp(value) of a place.
export function scale(low, high, from, to, warp = v => v) {
  const begin = warp(low), size = warp(high) - begin;
  const place = v => from + (warp(v) - begin) / size * (to - from);
  place.inverse = at => begin + (at - from) / (to - from) * size;
  return place;
}
