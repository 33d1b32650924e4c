// The part that only `poslab graph` draws: the tape of a training step, a row for each node in order, so that the
// inputs of a node are above it. A line joins neighbours; an arc on the left joins nodes further apart.
import {scrolled} from './element.mjs';
import {escape} from './text.mjs';

const row = 22, above = 60, edge = 24, letter = 7.6;  // a letter's width in common faces at 13 units
const bar = 60, number = 70, gap = 22;                // widths of the columns of times

const cut = text => text.length > 44 ? `${text.slice(0, 41)}...` : text;
const bytes = n => n < 1e4 ? String(n) : n < 1e7 ? `${(n / 1e3).toFixed(0)} k` : `${(n / 1e6).toFixed(0)} M`;
const y_of = n => above + row * n;
const bow = rows => rows === 1 ? 0 : Math.min(96, 14 * Math.sqrt(rows));
function arc(x, from, to) {
  const left = (x - bow(to - from) * 4 / 3).toFixed(1);
  return `<path d="M${x} ${y_of(from)}C${left} ${y_of(from)} ${left} ${y_of(to)} ${x} ${y_of(to)}"/>`;
}

// {title, nodes: [{module, name, reads, from, shape, bytes, forward, backward, gradient}]}; from: numbers of nodes
export function tape({title, nodes}) {
  const begins = nodes.map(({module}, n) => module !== nodes[n - 1]?.module);
  const sum = key => nodes.reduce((so_far, node) => so_far + node[key], 0);
  const all = {module: 'all', forward: sum('forward'), backward: sum('backward'), bytes: sum('bytes')};
  const start = edge + Math.ceil(Math.max(0, ...nodes.flatMap(({from}, n) => from.map(source => bow(n - source)))));
  let x = start + 16;
  const words = (name, of, style = '') => {
    const at = x;
    x += letter * Math.max(name.length, ...nodes.map((node, n) => of(node, n).length)) + gap;
    return {name, of, style, at};
  };
  const right = (name, of, wide, times) => {
    const column = {name, of, style: 'right', at: x + number - 8, times};
    x += wide;
    return column;
  };
  const time = key => right(`${key} µs`, node => node[key].toFixed(0), number + bar + gap, key);
  const columns = [
    words('module', (node, n) => begins[n] === false ? '' : node.module, 'module'),
    words('ops', node => cut(node.name)), words('reads', node => cut(node.reads), 'faded'),
    words('result', node => node.shape), time('forward'), time('backward'),
    right('bytes', node => bytes(node.bytes), 112),
    right('gradient norm', ({gradient}) => gradient === null ? '' : String(Number(gradient.toPrecision(2))), 82)
  ];
  const text = ({at}, y, style, words) =>
    words && `<text class="${style}" x="${at.toFixed(0)}" y="${y + 4.5}">${escape(words)}</text>`;
  /** @param {any} column */
  function bar_of({at, times}, node, y) {
    const longest = Math.max(...nodes.map(other => other[times]));
    const wide = longest && Math.max(.5, bar * node[times] / longest);
    return `<rect class="${times}" x="${(at + 8).toFixed(0)}" y="${y - 5}" width="${wide.toFixed(1)}" height="10"/>`;
  }
  const width = Math.round(x) + edge, end = y_of(nodes.length), height = end + edge;
  let shaded = true;
  const rows = nodes.map((node, n) => {
    if (begins[n]) shaded = !shaded;
    const y = y_of(n), words = `${node.module}: ${node.name}${node.reads && `, reads ${node.reads}`}`;
    const cells = columns.map(
        one => text(one, y, one.style, one.of(node, n)) + (one.times ? bar_of(one, node, y) : ''));
    return `<g><title>${escape(words)}</title><rect class="${shaded ? 'shade' : 'plain'}" y="${y - row / 2}" ` +
        `width="${width}" height="${row}"/>${cells.join('')}</g>`;
  });
  const head = columns.map(one => text(one, above - 26, one.style === 'right' ? 'faded right' : 'faded', one.name));
  const summed = columns.filter(({name, times}) => (times ?? name) in all);
  const foot = summed.map(one => text(one, end, one.style, one.of(all)));
  const joins = nodes.flatMap(({from}, n) => from.map(source => arc(start, source, n)));
  const circles = nodes.map((_, n) => `<circle cx="${start}" cy="${y_of(n)}" r="3.5"/>`);
  return scrolled(title, `<svg class="tape" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `role="img" aria-labelledby="tape-t tape-d"><title id="tape-t">${escape(title)}</title>` +
    `<desc id="tape-d">The tape, from its first op to the loss: ${nodes.length} rows of ` +
    `module, op, parameters, shape, time, bytes, gradient norm.</desc>` +
    `${[...rows, '<g class="joins">', ...joins, '</g>', ...circles, ...head, ...foot].join('')}</svg>`);
}
