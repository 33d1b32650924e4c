// Line charts, strips and bars as SVG text. Colours are var(--name) of page.css; svg_file has their values.
import {frame_in, shapes_of} from '../../lab/page/chart.mjs';
import {escape} from '../../lab/page/text.mjs';

export const percent = x => Number.isFinite(x) ? `${(100 * x).toFixed(x > .9995 || x < .0005 ? 0 : 1)} %` : '–';

const r = x => Math.round(x * 10) / 10;

// A line is recognized by its colour, its dashes and the mark at its end.
export const DASHES = ['', '7 4', '2 3', '9 3 2 3'];
export const MARKS = ['circle', 'square', 'triangle', 'diamond'];
export const SIGNS = ['●', '■', '▲', '◆'];  // the same marks within a text
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

// chart: {width, height, x: [low, high], y: [low, high], percent, x_label, y_label, shaded, at, log_y, large,
//         curves: [{name, colour, dash, mark, points: [[x, y], ...], thin}]}; large: for readers in the back row
const data_of = ({x, y, x_label = '', y_label = '', log_y, curves, ...chart}) => ({
  ...chart, x_low: x[0], x_high: x[1], y_low: y[0], y_high: y[1], x: x_label, y: y_label, log: log_y,
  curves: curves.map(({name, points}) => ({tip: name, points: points.filter(([v]) => v >= x[0] && v <= x[1])}))
});
const size_of = chart => chart.large ? 22 : 12;  // font size
// The frame of a chart, and the functions that map values to coordinates in it.
export function frame_of(chart) {
  const unit = size_of(chart) / 13, around = Math.round;
  return frame_in(data_of(chart), {
    left: around(48 * unit), right: chart.width - around(11 * unit), top: around((chart.y_label ? 30 : 10) * unit),
    bottom: chart.height - around(43 * unit), unit, y_ticks: 4,
    ticks: Math.max(2, Math.floor(chart.width / (6 * size_of(chart))))
  });
}

export function chart_shapes(chart) {
  const frame = frame_of(chart), size = size_of(chart), thick = chart.large ? 2 : 1, {curves} = chart;
  const letters = `style="fill:var(--soft);font-size:${size}px"`;
  const line = colour => `style="stroke:var(--${colour});fill:none"`;
  const look = {
    number: letters, label: letters, zone: letters, gridline: line('rule'), tick: line('faint'), axis: line('faint'),
    trained: 'style="fill:var(--wash)"',
    curve: n => `style="fill:none;stroke:${curves[n].colour};stroke-width:${thick * (curves[n].thin ? 1.3 : 2.5)}` +
        `;stroke-linejoin:round${curves[n].dash ? `;stroke-dasharray:${curves[n].dash}` : ''}"`
  };
  const marks = curves.map(({mark: kind, points, colour}) => {
    const end = kind && points.findLast(([x, y]) => Number.isFinite(y) && x <= chart.x[1]);
    return end ? mark(kind, frame.x(end[0]), frame.y(end[1]), 4.5 * thick, colour) : '';
  });
  return shapes_of(data_of(chart), frame, look) + marks.join('') +
      (chart.at === undefined ? '' : upright_at(chart, chart.at));
}
// A vertical line at a value of x.
export function upright_at(chart, x) {
  const {x: place, top, bottom} = frame_of(chart);
  return `<path class="at" d="M${r(place(x))} ${top}V${bottom}" style="stroke:var(--ink);stroke-width:1.5"/>`;
}

// The values of a histogram [[value, count], ...] as runs of neighbours, [[from, to], ...]; counts are left out.
export function runs_of(values) {
  const runs = [];
  for (const [value] of values)
    if (runs.length && value === runs.at(-1)[1] + 1) runs.at(-1)[1] = value;
    else runs.push([value, value]);
  return runs;
}
// The parts of the runs inside `others`, and the parts outside.
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
// strip: {trained, needed, low, high}, with runs of values. The upper row shows the values in training, the lower row
// those that a test needs: in one colour if training had them, in another if not.
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

// A complete file. colour_of(name): the value of the CSS variable of that name.
export function svg_file(shapes, width, height, title, about, colour_of) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `height="${height}" font-family="sans-serif"><title>${escape(title)}</title><desc>${escape(about)}</desc>` +
      `<rect width="${width}" height="${height}" style="fill:var(--paper)"/>${shapes}</svg>\n`;
  return svg.replace(/var\((--[\w-]+)\)/g, (_, name) => colour_of(name));
}
