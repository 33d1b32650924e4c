// Line charts, strips and bars as SVG text. Colours are var(--name) of page.css; `with_colours` puts numbers in their
// place, so that the same text is a file of its own.

export function escape(text) {
  const entities = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
  return String(text).replace(/[&<>"']/g, c => entities[c]);
}

// 1, 2 or 5 times a power of ten, at least `least`: as lab/pages/page/chart.cpp has it.
export function tick_step(least) {
  const power = 10 ** Math.floor(Math.log10(least)), times = least / power - 1e-9;
  return power * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
}
export function ticks(low, high, most) {
  const step = tick_step((high - low) / most), all = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    all.push(Number((n * step).toPrecision(12)));
  return all;
}
export const percent = x => Number.isFinite(x) ? `${(100 * x).toFixed(x > .9995 || x < .0005 ? 0 : 1)} %` : '–';
export const short = x => !Number.isFinite(x) ? '–' :
    Number.isInteger(x) && Math.abs(x) < 1e7  ? String(x) :
                                                String(Number(x.toPrecision(3)));

const r = x => Math.round(x * 10) / 10;

// A line is told from others by its colour, its dashes and the mark at its end.
export const DASHES = ['', '7 4', '2 3', '9 3 2 3'];
export const MARKS = ['circle', 'square', 'triangle', 'diamond'];
export const SIGNS = ['●', '■', '▲', '◆'];  // the same in a text
export function mark(kind, x, y, size, colour) {
  const s = size, shapes = {
    circle: `<circle cx="${r(x)}" cy="${r(y)}" r="${s}"`,
    square: `<rect x="${r(x - s)}" y="${r(y - s)}" width="${2 * s}" height="${2 * s}"`,
    triangle: `<path d="M${r(x)} ${r(y - s)}L${r(x + s)} ${r(y + s)}H${r(x - s)}Z"`,
    diamond: `<path d="M${r(x)} ${r(y - s * 1.3)}L${r(x + s * 1.3)} ${r(y)}L${r(x)} ${r(y + s * 1.3)}L${
        r(x - s * 1.3)} ${r(y)}Z"`,
  };
  return `${shapes[kind]} style="fill:${colour};stroke:var(--paper);stroke-width:1.5"/>`;
}

// chart: {width, height, x: [low, high], y: [low, high], percent, x_label, y_label, shaded, at, log_y, whole_x, large,
//         curves: [{name, colour, dash, mark, points: [[x, y], ...], thin}]}; large: for the back row
// The frame of a chart, and where a value of x lies: what dragging needs.
export function frame_of(chart) {
  const left = chart.large ? 64 : 44, right = chart.width - (chart.large ? 24 : 10);
  const top = !chart.y_label ? 10 : chart.large ? 36 : 24;
  const bottom = chart.height - (chart.large ? 58 : 34);
  const [x0, x1] = chart.x, [y0, y1] = chart.y.map(y => chart.log_y ? Math.log10(y) : y);
  return {
    left,
    right,
    top,
    bottom,
    px: x => left + (x - x0) / (x1 - x0) * (right - left),
    py: y => {
      const v = chart.log_y ? Math.log10(Math.max(y, 1e-12)) : y;
      return bottom - (Math.min(y1, Math.max(y0, v)) - y0) / (y1 - y0) * (bottom - top);
    },
    value: px => x0 + (px - left) / (right - left) * (x1 - x0)
  };
}

export function chart_shapes(chart) {
  const {left, right, top, bottom, px, py} = frame_of(chart), out = [];
  const size = chart.large ? 22 : 12, thick = chart.large ? 2 : 1;
  const label = `style="fill:var(--soft);font-size:${size}px"`;
  if (chart.shaded) {
    out.push(
        `<rect x="${left}" y="${top}" width="${r(px(chart.shaded) - left)}" height="${bottom - top}"` +
        ' style="fill:var(--wash)"/>');
    out.push(`<path d="M${r(px(chart.shaded))} ${top}V${bottom}" style="stroke:var(--faint);stroke-dasharray:3 3"/>`);
    out.push(`<text x="${r(left + 4)}" y="${bottom - size / 2}" ${label}>trained</text>`);
  }
  const y_ticks = chart.log_y ? ticks(...chart.y.map(Math.log10), 4).map(e => 10 ** e) : ticks(...chart.y, 4);
  for (const y of y_ticks) {
    out.push(`<path d="M${left} ${r(py(y))}H${right}" style="stroke:var(--rule);fill:none"/>`);
    const words = chart.percent ? `${Math.round(100 * y)}` : short(y);
    out.push(`<text x="${left - 6}" y="${r(py(y) + size / 3)}" text-anchor="end" ${label}>${words}</text>`);
  }
  for (const x of ticks(...chart.x, Math.max(2, Math.floor((right - left) / (5 * size)))))
    if (!chart.whole_x || Number.isInteger(x))
      out.push(
          `<path d="M${r(px(x))} ${bottom}v4" style="stroke:var(--faint)"/>`,
          `<text x="${r(px(x))}" y="${bottom + 5 + size}" text-anchor="middle" ${label}>${short(x)}</text>`);
  const under = `x="${right}" y="${chart.height - 3}" text-anchor="end"`;
  out.push(`<text ${under} ${label}>${escape(chart.x_label ?? '')}</text>`);
  if (chart.y_label) out.push(`<text x="2" y="${size}" ${label}>${escape(chart.y_label)}</text>`);
  for (const curve of chart.curves) {
    let d = '', pen = false;
    for (const [x, y] of curve.points) {
      if (!Number.isFinite(y) || x < chart.x[0] || x > chart.x[1]) {
        pen = false;
        continue;
      }
      d += `${pen ? 'L' : 'M'}${r(px(x))} ${r(py(y))}`;
      pen = true;
    }
    if (!d) continue;
    const dash = curve.dash ? `;stroke-dasharray:${curve.dash}` : '';
    out.push(
        `<path d="${d}" style="fill:none;stroke:${curve.colour};stroke-width:${thick * (curve.thin ? 1.3 : 2.5)}` +
        `;stroke-linejoin:round${dash}"><title>${escape(curve.name)}</title></path>`);
    if (curve.mark) {
      const [x, y] = curve.points.findLast(p => Number.isFinite(p[1]));
      out.push(mark(curve.mark, px(x), py(y), 4.5 * thick, curve.colour));
    }
  }
  if (chart.at !== undefined) out.push(upright_at(chart, chart.at));
  return out.join('');
}
// The upright line at a value of x.
export function upright_at(chart, x) {
  const {px, top, bottom} = frame_of(chart);
  return `<path class="at" d="M${r(px(x))} ${top}V${bottom}" style="stroke:var(--ink);stroke-width:1.5"/>`;
}

// The values of a histogram [[value, count], ...] as runs of neighbours, [[from, to], ...]; counts are left out.
export function runs_of(values) {
  const runs = [];
  for (const [value] of values)
    if (runs.length && value === runs.at(-1)[1] + 1) runs.at(-1)[1] = value;
    else runs.push([value, value]);
  return runs;
}
// Those of `runs` that lie in `others`, and those that do not.
export function parted(runs, others) {
  const inside = [], outside = [];
  for (const [from, to] of runs) {
    let at = from;
    for (const [a, b] of others) {
      if (b < at || a > to) continue;
      if (a > at) outside.push([at, a - 1]);
      inside.push([Math.max(a, at), Math.min(b, to)]);
      at = b + 1;
    }
    if (at <= to) outside.push([at, to]);
  }
  return [inside, outside];
}
// strip: {trained, needed, low, high}, runs of values: on top what training met, below what a test needs, in the colour
// of what training met or did not.
export function strip_shapes(strip, width, height) {
  const {low, high} = strip, cell = width / Math.max(1, high - low + 1), half = Math.floor(height / 2) - 1;
  const bar = (from, to, y, colour) => `<rect x="${r((from - low) * cell)}" y="${y}" ` +
      `width="${r(Math.max(1, (to - from + 1) * cell))}" height="${half}" style="fill:var(--${colour})"/>`;
  const bars = (runs, y, colour) => runs.filter(([from, to]) => to >= low && from <= high)
      .map(([from, to]) => bar(Math.max(from, low), Math.min(to, high), y, colour)).join('');
  const [met, unmet] = parted(strip.needed, strip.trained), below = half + 2;
  return bar(low, high, 0, 'wash') + bar(low, high, below, 'wash') + bars(strip.trained, 0, 'met') +
      bars(met, below, 'met') + bars(unmet, below, 'unmet');
}

// 0 to 1 for one side, -1 to 1 for two: the colours of matrices, as [r, g, b] of a list of stops "#rrggbb".
export function colour_between(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1), n = Math.min(stops.length - 2, Math.floor(at));
  const rgb = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16));
  const [a, b] = [rgb(stops[n]), rgb(stops[n + 1])];
  return a.map((v, k) => Math.round(v + (b[k] - v) * (at - n)));
}

// In SVG text, every var(--name) as the colour that `colours` has for it.
export function with_colours(svg, colours) {
  return svg.replace(/var\((--[\w-]+)\)/g, (all, name) => colours[name] ?? all);
}
export function svg_file(shapes, width, height, title, about, colours) {
  return with_colours(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
          `height="${height}" font-family="sans-serif"><title>${escape(title)}</title><desc>${escape(about)}</desc>` +
          `<rect width="${width}" height="${height}" style="fill:var(--paper)"/>${shapes}</svg>\n`,
      colours);
}
