// Text and numbers as pages show them: prose (described in README.md) as HTML, and numbers by the forms of columns.

// Text for HTML; a control character becomes its Unicode picture.
export function escape(text) {
  const entities = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;'};
  const picture = c => String.fromCharCode(0x2400 + c.charCodeAt(0));
  return String(text).replace(/[&<>"'\0-\x08\x0b-\x1f]/g, c => entities[c] ?? picture(c));
}

// **bold**, *italic*, `code`, [name]{c1}: a run's name in its color; a backslash makes the next character literal and,
// at the end of a line, breaks the line.
export function prose(text) {
  const tags = {'**': 'b', '*': 'i', '`': 'code'}, open = {};
  const token = /\\([^])|\*\*|[*`]|\[((?:\\[^]|[^\]\\])*)\]\{([\w ]*)\}|[^]/gu;
  return text.replace(token, (part, kept, name, color) => {
    if (kept !== undefined) return kept === '\n' ? '<br>' : escape(kept);
    if (name !== undefined) return `<span class="${color}">${prose(name)}</span>`;
    return tags[part] ? `<${(open[part] = !open[part]) ? '' : '/'}${tags[part]}>` : escape(part);
  });
}

// Rounded to this many digits, ties to even, as the program does.
export function fixed(x, digits) {
  const scaled = x * 10 ** digits;
  const tie = Number.isInteger(2 * scaled) && !Number.isInteger(scaled);
  return (tie ? 2 * Math.round(scaled / 2) / 10 ** digits : x).toFixed(digits);
}
// At most five digits: 0.001, 10001, 2.5e+06.
export function number(x) {
  const [digits, power] = x.toExponential(4).split('e');
  if (Number(power) >= -4 && Number(power) < 5) return String(Number(x.toPrecision(5)));
  return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, '0')}`;
}
// At most three digits; whole numbers keep all.
export function short(x) {
  if (!Number.isFinite(x)) return '–';
  return Math.abs(x) >= 1000 || Number.isInteger(x) ? (x + 0).toFixed(0) : String(Number(x.toPrecision(3)));
}
export const percent = x => `${fixed(100 * x, 1)}\u202f%`;
export const points = x => fixed(100 * x, 1);                     // of a hundred
export const signed = x => {
  const text = points(x);
  return Number(text) === 0 ? '0.0' : x > 0 ? `+${text}` : text;
};

// form: "percent", "points", "signed", or the number of digits after the point; else five digits. No value: a dash.
export function formatted(x, form) {
  if (x === null || x === undefined) return '–';
  const named = {percent, points, signed}[form];
  return named ? named(x) : typeof form === 'number' ? fixed(x, form) : number(x);
}
