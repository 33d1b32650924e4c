// Colors that follow the theme of the reader.

export function ramp(name) {  // 256 colors from the stops in the style sheet
  const stops = getComputedStyle(document.documentElement).getPropertyValue(name).split(',').map(text => {
    const hex = text.trim().slice(1);
    return [0, 2, 4].map(k => parseInt(hex.slice(k, k + 2), 16));
  });
  return Array.from({length: 256}, (_, n) => between(stops, n / 255));
}
// The color at a share from 0 to 1 of the way along the stops, each of which is [red, green, blue].
export function between(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
  return stops[low].map((c, k) => c + (at - low) * (stops[low + 1][k] - c));
}

export function draw(picture) {  // runs at once, and again whenever the colors change
  picture();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', picture);
  matchMedia('print').addEventListener('change', picture);
}
