// Matrices in colors that follow the theme of the reader: eight bits a cell, value = low + cell / 255 (high - low).
// Some also have values; a value that is not a number leaves its cell empty.
import {answered, choice, count, element} from './element.mjs';
import {tick_step} from './scale.mjs';
import {short} from './text.mjs';
import {draw, ramp} from './theme.mjs';

const cells = matrix => matrix.bytes ??= Uint8Array.from(atob(matrix.cells), c => c.charCodeAt(0));
const value = (matrix, n) => matrix.values?.[n] ??
    matrix.low + cells(matrix)[n] / 255 * (matrix.high - matrix.low);
const two_sided = matrix => matrix.two_sided ?? (matrix.low < 0 && matrix.high > 0);
// The numbers at the ends of the color scale; if it has two sides, 0 is in the middle.
function ends_of(matrix) {
  const reach = Math.max(-matrix.low, matrix.high);
  return two_sided(matrix) ? [-reach, reach] : [matrix.low, matrix.high];
}

function image_of(matrix) {
  const canvas = element('canvas', {width: matrix.cols, height: matrix.rows}), context = canvas.getContext('2d');
  const pixels = context.createImageData(matrix.cols, matrix.rows),
        colors = ramp(two_sided(matrix) ? '--diverging' : '--sequential'), [low, high] = ends_of(matrix);
  for (let n = 0; n < matrix.rows * matrix.cols; ++n) {
    const share = high > low ? (value(matrix, n) - low) / (high - low) : 0;
    if (Number.isFinite(share)) pixels.data.set([...colors[Math.round(255 * share)], 255], 4 * n);
  }
  context.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}

// A matrix with its frame, ticks in slots, lines before slot `part`, and a sentence about the cell that the pointer or
// the arrow keys (with Shift ten cells) select; `moved` gets that cell, or none. show(i, j) and hide() select, too.
/**
 * @param {any} matrix
 * @param {any} drawn
 */
export function draw_map(matrix, {
  label,
  said,
  tell,
  first_row = 0,
  block = 1,
  part = 0,
  symbols = null,
  row = 'query slot',
  col = 'key slot',
  first = 1,
  moved = () => {}
}) {
  const side = 400, left = 40, top = 34, cell = side / Math.max(matrix.cols, matrix.rows);
  const width = cell * matrix.cols, height = cell * matrix.rows;
  const picture = element('svg', {
    class: 'map',
    viewBox: `0 0 ${left + side + 4} ${top + height + 6}`,
    role: 'img',
    tabindex: 0,
    'aria-label': label
  });
  picture.append(
    element('image', {href: image_of(matrix), x: left, y: top, width, height, preserveAspectRatio: 'none'}),
    element('rect', {class: 'frame', x: left, y: top, width, height}));
  const letters = symbols ? Math.max(...symbols.map(symbol => symbol.length)) : 0;
  const named = symbols && matrix.cols * Math.max(letters, 2) <= 64;
  const each = named ? 1 : tick_step(Math.max(1, 36 * block / cell));
  for (let slot = first ? each - 1 : 0; slot < matrix.cols * block; slot += each)
    picture.append(element(
      'text', {x: left + (slot / block + .5) * cell, y: top - 6, 'text-anchor': 'middle'},
      named ? symbols[slot] : String(slot + first)));
  for (let slot = Math.ceil((first_row + first) / each) * each - first; slot < first_row + matrix.rows * block;
       slot += each)
    picture.append(element(
      'text', {x: left - 7, y: top + ((slot - first_row) / block + .5) * cell + 4, 'text-anchor': 'end'},
      named ? symbols[slot] : String(slot + first)));
  picture.append(
    element('text', {x: left + width, y: 10, 'text-anchor': 'end'}, `${col} →`),
    element('text', {x: 0, y: 10}, `${row} ↓`));
  if (part > 0)
    picture.append(element('path', {class: 'part', d: `M${left + part / block * cell} ${top}v${height}`}));
  if (part > first_row)
    picture.append(
      element('path', {class: 'part', d: `M${left} ${top + (part - first_row) / block * cell}h${width}`}));
  const here = element('rect', {class: 'cell', width: cell, height: cell, visibility: 'hidden'});
  picture.append(here);

  let at = [0, 0];
  const rest = said.textContent;
  function show(i, j) {
    at = [Math.max(0, Math.min(matrix.rows - 1, i)), Math.max(0, Math.min(matrix.cols - 1, j))];
    here.setAttribute('x', left + at[1] * cell);
    here.setAttribute('y', top + at[0] * cell);
    here.setAttribute('visibility', 'visible');
    said.textContent = tell(at[0], at[1], value(matrix, at[0] * matrix.cols + at[1]));
  }
  function hide() {
    here.setAttribute('visibility', 'hidden');
    said.textContent = rest;
  }
  const leave = () => (hide(), moved());
  function point(event) {
    const box = picture.getBoundingClientRect(), unit = box.width / picture.viewBox.baseVal.width;
    const j = Math.floor(((event.clientX - box.left) / unit - left) / cell),
          i = Math.floor(((event.clientY - box.top) / unit - top) / cell);
    if (i < 0 || j < 0 || i >= matrix.rows || j >= matrix.cols)
      leave();
    else
      show(i, j), moved(i, j);
  }
  picture.addEventListener('pointerdown', point);
  picture.addEventListener('pointermove', point);
  picture.addEventListener('pointerleave', leave);
  picture.addEventListener('blur', leave);
  picture.addEventListener('keydown', event => {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!step) return;
    event.preventDefault();
    const far = event.shiftKey ? 10 : 1;
    show(at[0] + step[0] * far, at[1] + step[1] * far);
    moved(at[0], at[1]);
  });
  return Object.assign(picture, {show, hide});
}

// The sentence of draw_map about a cell of attention; a cell is `block` by `block` slots, rows count from slot
// `first_row`.
export const tell_slots = ({first_row = 0, block, slots, name = slot => `slot ${slot + 1}`}) => (i, j, v) => {
  const names = (at, first) => {
    const from = first + at * block, to = Math.min(from + block, slots) - 1;
    return from === to ? name(from) : `slots ${from + 1} to ${to + 1}`;
  };
  return `From ${names(i, first_row)} to ${names(j, 0)}: ${short(v)}${block > 1 ? ' at most' : ''}.`;
};

// A matrix between the text above it and `below`, with the sentence `about` until a cell is read.
export function map_card(above, matrix, {about = '', ...drawn}, ...below) {
  const said = element('p', {class: 'said', 'aria-live': 'polite'}, about);
  return element('div', {class: 'card'}, above, draw_map(matrix, {said, ...drawn}), scale_bar(matrix), said, ...below);
}
// A string with its answer and its attention: {input, expected, predicted, counted, queries, block, layers: [{max,
// heads}]}. queries: how many of the last slots are rows; answer slots from `counted` on do not count.
export function string_rows({input, expected, predicted, counted}) {
  const gap = [...input, ...expected].some(symbol => symbol.length > 1) ? ' ' : '';
  const said = predicted.map((symbol, o) => [symbol, symbol === expected[o]]);
  return answered(input.join(gap), ['expected', expected.join(gap)], said, counted, gap);
}
// The map of a layer and head; head 0 is the maximum over heads.
export function attention_card(above, {input, expected, predicted, queries, block, layers}, chosen, of, ...below) {
  const layer = layers[chosen.layer], matrix = layer && (chosen.head ? layer.heads[chosen.head - 1] : layer.max);
  if (!matrix)
    return element('div', {class: 'card'}, above, element('p', {class: 'note'}, 'This run has no such layer or head.'));
  const n = input.length, slots = n + expected.length, first_row = slots - queries;
  const name = slot => slot < n ?
      `slot ${slot + 1} (${input[slot]})` :
      `answer slot ${slot - n + 1} (expected ${expected[slot - n]}, answered ${predicted[slot - n]})`;
  const tell = tell_slots({first_row, block, slots, name});
  const about = block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : '';
  const label = `${of}layer ${chosen.layer + 1}, ${chosen.head ? `head ${chosen.head}` : 'maximum over heads'}`;
  return map_card(
    above ?? element('p', {class: 'said'}, `${label}.`), matrix,
    {label, about, tell, first_row, block, part: n, symbols: [...input, ...expected.map(() => '·')]}, ...below);
}
// Pictures of a page that share one choice of layer and head.
export const shared = {layer: 0, head: 0, pictures: []};
export function draw_shared(picture) {
  shared.pictures.push(picture);
  picture();
}
// {layers, heads}; with layers, head 0 is the maximum over all heads.
export function choices({layers = 0, heads}) {
  const redraw = () => shared.pictures.forEach(picture => picture());
  shared.layer = layers - 1;
  draw(redraw);
  return element(
      'div', {id: 'choices'}, choice('layer', count(layers), shared, 'layer', redraw),
      choice('head', [...layers ? ['max'] : [], ...count(heads)], shared, 'head', redraw));
}
export function scale_bar(matrix) {
  const [low, high] = ends_of(matrix).map(short);
  return element(
      'div', {class: 'scale'}, element('span', {}, low),
      element('i', {class: two_sided(matrix) ? 'diverging' : 'sequential'}), element('span', {}, high));
}
