// Line charts, described in README.md: two SVGs, wide and narrow, of which the style sheet shows one; a legend, which
// shows values at the pointer or by the arrow keys; names at the ends of the curves.
import {element, from_html} from './element.mjs';
import {even_ticks, log_ticks, scale, some_of} from './scale.mjs';
import {escape, number, percent, prose, short} from './text.mjs';

const r = x => Number(x.toFixed(1));
const drawn = (chart, y) => y !== null && Number.isFinite(y) && (!chart.log || y > 0);

// Maps values to places in {left, right, top, bottom}; a y outside the axis is moved to its end.
export function frame_in(chart, box) {
  const {x_low, x_high, y_low, y_high} = chart, within = v => Math.min(y_high, Math.max(y_low, v));
  const y = scale(y_low, y_high, box.bottom, box.top, chart.log ? Math.log10 : undefined);
  return {...box, x: scale(x_low, x_high, box.left, box.right, chart.doubling ? Math.log2 : undefined),
    y: v => y(within(v))};
}

function path(frame, chart, points, attributes, tip = '') {
  let d = '', drawing = false;  // a value that is not drawn breaks the line
  for (const [x, y] of points) {
    const seen = drawn(chart, y);
    if (seen) d += `${drawing ? 'L' : 'M'}${r(frame.x(x))} ${r(frame.y(y))}`;
    drawing = seen;
  }
  return d ? `<path ${attributes} d="${d}"${tip ? `><title>${escape(tip)}</title></path>` : '/>'}` : '';
}
function area(frame, band, attributes) {
  const at = (x, y) => `${r(frame.x(x))} ${r(frame.y(y))}`;
  const d = [...band.map(([x, , high]) => at(x, high)), ...band.toReversed().map(([x, low]) => at(x, low))].join('L');
  return d ? `<path ${attributes} d="M${d}Z"/>` : '';
}

// Whether two lines look like one in a picture of 400 x 400 pixels, where a line is 2 pixels thick.
function on_one_another(chart, a, b) {
  const {y} = frame_in(chart, {left: 0, right: 400, top: 0, bottom: 400});
  if (a.points.length !== b.points.length || a.filled || b.filled) return false;
  return a.points.every(([x, value], n) => {
    const [other_x, other] = b.points[n];
    if (x !== other_x || (value === null) !== (other === null)) return false;
    return value === null || Math.abs(y(value) - y(other)) <= 2;
  });
}
// The class of page.css for a curve that lies on others: its line has gaps, through which one sees the others.
export function gaps(chart, n) {
  const {curves} = chart, under = curves.slice(0, n).filter(
      other => curves[n].color !== 'base' && other.color !== 'base' && on_one_another(chart, other, curves[n])).length;
  return under ? ` gaps${Math.min(under, 3)}` : '';
}
// Classes of page.css for each curve; each baseline has dashes of its own.
function styles({curves}) {
  let baselines = 0;
  return curves.map(({filled, color}) =>
      filled ? `area ${color}` : `line ${color}${color === 'base' ? ` d${baselines++}` : ''}`);
}

const text = (x, y, words, attributes) => `<text x="${r(x)}" y="${r(y)}" ${attributes}>${escape(words)}</text>`;

// Attributes of each kind of shape: here the classes of page.css; another page may pass its own. curve(n), band(n) and
// raw(n) are for the n-th curve.
function look_of(chart) {
  const looks = styles(chart), color = n => chart.curves[n].color;
  const names = ['label', 'zone', 'gridline', 'tick', 'axis', 'trained'];
  return {
    ...Object.fromEntries(names.map(name => [name, `class="${name}"`])), number: '',
    curve: n => `class="${looks[n]}${gaps(chart, n)}"`, band: n => `class="band ${color(n)}"`,
    raw: n => `class="raw ${color(n)}"`
  };
}

// Sizes are for a font size of 13; `unit` scales them.
function axes(chart, frame, look) {
  const {left, right, top, bottom, ticks, unit = 1} = frame, points = chart.curves.flatMap(curve => curve.points);
  const whole = points.every(([x]) => Number.isInteger(x));
  const x_ticks = chart.doubling ? some_of(points.map(([x]) => x), ticks) :
                                   even_ticks(chart.x_low, chart.x_high, ticks, whole);
  const y_ticks = chart.log ? log_ticks(chart.y_low, chart.y_high) :
                              even_ticks(chart.y_low, chart.y_high, frame.y_ticks ?? 6);
  const across = y_ticks.map(v => `<path ${look.gridline} d="M${left} ${r(frame.y(v))}H${r(right)}"/>` + text(
    left - 8 * unit, frame.y(v) + 4 * unit, chart.percent ? `${(100 * v).toFixed(0)} %` : number(v),
    `text-anchor="end" ${look.number}`));
  const along = x_ticks.map(v => `<path ${look.tick} d="M${r(frame.x(v))} ${bottom}v${r(5 * unit)}"/>` +
    text(frame.x(v), bottom + 19 * unit, number(v), `text-anchor="middle" ${look.number}`));
  return [...across, ...along].join('') + `<path ${look.axis} d="M${left} ${bottom}H${r(right)}"/>` +
      text((left + right) / 2, bottom + 40 * unit, chart.x, `text-anchor="middle" ${look.label}`) +
      text(left - 48 * unit, top - 18 * unit, chart.y, look.label);
}

// Names next to the ends of their curves, moved apart where they would overlap.
function direct_labels(chart, frame) {
  const labels = chart.curves.flatMap(({name, color, points}) => {
    const end = points.findLast(([, y]) => y !== null);
    return end ? [{y: frame.y(end[1]), name, color}] : [];
  }).sort((a, b) => a.y - b.y);
  const gap = 17;
  let lowest = frame.top, highest = frame.bottom - 2;
  for (const label of labels) label.y = Math.max(label.y, lowest), lowest = label.y + gap;
  for (const label of labels.toReversed()) label.y = Math.min(label.y, highest), highest = label.y - gap;
  return labels.map(({y, name, color}) => text(frame.right + 10, y + 4, name, `class="name ${color}"`)).join('');
}

function trained_zone(chart, frame, look) {
  if (!chart.shaded || chart.shaded <= chart.x_low) return '';
  const {left, top, bottom, unit = 1} = frame, end = frame.x(Math.min(chart.shaded, chart.x_high));
  const word = 64 * unit;  // "trained" and a space; if the zone is narrower, the next word starts after them
  const zone = (x, words) => text(x + 8 * unit, bottom - 10 * unit, words, look.zone);
  return `<rect x="${left}" y="${top}" width="${r(end - left)}" height="${bottom - top}" ${look.trained}/>` +
      zone(left, 'trained') + (chart.x_high > chart.shaded ? zone(Math.max(end, left + word), 'unseen') : '');
}

// Everything except the names of the curves.
export function shapes_of(chart, frame, look) {
  const each = draw => chart.curves.map(draw).join('');
  return trained_zone(chart, frame, look) + axes(chart, frame, look) +
      each(({band}, n) => band ? area(frame, band, look.band(n)) : '') +
      each(({behind}, n) => behind ? path(frame, chart, behind, look.raw(n)) : '') +
      each(({points, tip}, n) => path(frame, chart, points, look.curve(n), tip));
}

const sizes = narrow => narrow ? {width: 380, height: 320, ticks: 4} : {width: 900, height: 400, ticks: 8};
function frame_sized(chart, narrow) {
  const {width, height, ticks} = sizes(narrow), longest = Math.max(0, ...chart.curves.map(({name}) => name.length));
  // A letter takes 8.2: enough for every common sans-serif face, bold, at 13 units.
  const margin = narrow ? 12 : Math.min(340, 16 + 8.2 * longest);
  return frame_in(chart, {left: 48, right: width - margin, top: 30, bottom: height - 48, ticks});
}

// The first and the last value of each curve in words, for screen readers.
function in_words({unit, percent: of_100, curves}) {
  const at = ([x, y]) => `${of_100 ? percent(y) : short(y)} at ${unit} ${number(x)}`;
  return curves.map(({name, points}) => {
    const seen = points.filter(([, y]) => y !== null);
    return seen.length ? `${name}: ${at(seen[0])}, ${at(seen.at(-1))}.` : '';
  }).join(' ');
}

export function chart_svg(chart, narrow) {
  const {width, height} = sizes(narrow), frame = frame_sized(chart, narrow);
  const key = escape(`${chart.id}-${narrow ? 'narrow' : 'wide'}`);
  return `<svg class="chart ${narrow ? 'narrow' : 'wide'}" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `height="${height}" role="img" aria-labelledby="${key}-t ${key}-d"><title id="${key}-t">` +
      `${escape(chart.title)}</title><desc id="${key}-d">${escape(in_words(chart))}</desc>` +
      shapes_of(chart, frame, look_of(chart)) + (narrow ? '' : direct_labels(chart, frame)) +
      '<g class="readout"></g></svg>';
}

function plot_html(chart) {
  const looks = styles(chart);
  const legend = chart.curves.map((curve, n) => '<li><svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">' +
    `<path class="${looks[n]}" d="${curve.filled ? 'M1 1H25V9H1Z' : 'M1 5H25'}"/></svg>` +
    `<span>${escape(curve.name)}</span><b class="value"></b></li>`);
  return `<ul class="legend">${legend.join('')}<li class="where"></li></ul>` + chart_svg(chart, false) +
      chart_svg(chart, true);
}

// The pointer or the arrow keys pick an x; the legend shows every curve's value there.
function read_out(plot, chart) {
  const values = [...plot.querySelectorAll('.legend .value')], where = plot.querySelector('.where');
  const pictures = [...plot.querySelectorAll('.chart')].map((picture, n) => [picture, frame_sized(chart, n === 1)]);
  const xs = some_of(chart.curves.flatMap(curve => curve.points.map(([x]) => x)), Infinity);
  const along = chart.doubling ? Math.log2 : v => v;
  let at = -1;

  const nearest = (list, x, value = v => v) =>
      list.reduce((best, one) => Math.abs(value(one) - x) < Math.abs(value(best) - x) ? one : best);
  function point_at({points}, x) {
    if (!points.length || x > points.at(-1)[0] || x < points[0][0]) return [x, null];
    return nearest(points, x, point => point[0]);
  }
  function show(index) {
    at = Math.max(0, Math.min(xs.length - 1, index));
    const x = xs[at], picked = chart.curves.map(curve => point_at(curve, x));
    where.textContent = `at ${chart.unit} ${x}`;
    picked.forEach(([, y], n) => {
      if (chart.curves[n].points.length)
        values[n].textContent = y === null ? '–' : chart.percent ? percent(y) : short(y);
    });
    for (const [picture, frame] of pictures) {
      const marks = [element('path', {d: `M${frame.x(x)} ${frame.top}V${frame.bottom}`})];
      picked.forEach(([cx, cy], n) => {
        if (cy !== null)
          marks.push(element('circle', {cx: frame.x(cx), cy: frame.y(cy), r: 4, class: chart.curves[n].color}));
      });
      picture.querySelector('.readout').replaceChildren(...marks);
    }
  }
  function hide() {
    at = -1;
    for (const line of [where, ...values]) line.textContent = '';
    for (const [picture] of pictures) picture.querySelector('.readout').replaceChildren();
  }
  where.setAttribute('aria-live', 'polite');
  plot.onblur = hide;
  plot.onkeydown = event => {
    const step =
        {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -xs.length, End: xs.length}[event.key];
    if (step === undefined || !xs.length) return;
    event.preventDefault();
    show(at < 0 ? (step > 0 ? 0 : xs.length - 1) : at + step);
  };
  for (const [picture, frame] of xs.length ? pictures : []) {
    picture.addEventListener('pointermove', event => {
      const box = picture.getBoundingClientRect(), unit = box.width / picture.viewBox.baseVal.width;
      show(xs.indexOf(nearest(xs, frame.x.inverse((event.clientX - box.left) / unit), along)));
    });
    picture.addEventListener('pointerleave', hide);
  }
}

// draw(true) shows a logarithmic axis, if the data has a lower end for one.
export function chart(data) {
  const label = 'Chart; the left and right arrow keys read values';
  const plot = element('div', {class: 'plot', tabindex: 0, role: 'group', 'aria-label': label});
  const figure = element('figure', {}, plot);
  if (data.caption) figure.append(from_html(`<figcaption>${prose(data.caption)}</figcaption>`));
  figure.draw = log => {
    const shown = log ? {...data, log: true, y_low: data.log_low, title: `${data.title}, log axis`} : data;
    plot.innerHTML = plot_html(shown);
    read_out(plot, shown);
  };
  figure.draw(false);
  return figure;
}
