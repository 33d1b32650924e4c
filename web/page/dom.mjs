// The common part of all views: elements, messages for screen readers, and saving files.
import {element} from '../../lab/page/element.mjs';
import {chart_shapes} from './figures.mjs';

// Elements that all views use.
export const view_of = (name, title, lead, ...parts) => element(
    'section', {class: `view ${name}`}, element('h1', {}, title), element('p', {class: 'lead'}, lead), parts);
export const block = (name, ...parts) => element('div', {class: name}, parts);
export const row = (...controls) => block('settings row', controls);
export const note = (...words) => element('p', {class: 'note'}, words);
export const figure = (caption, picture) => element('figure', {}, element('figcaption', {}, caption), picture);
export function table_of(caption, rows, head = []) {
  const names = element('tr', {}, head.map(words => element('th', {scope: 'col'}, words)));
  return element('table', {}, element('caption', {}, caption), head.length ? element('thead', {}, names) : null,
                 element('tbody', {}, rows));
}
// The paragraph for an error message.
export const fault = () => element('p', {class: 'bad', role: 'status'});
// A line that screen readers read aloud when it changes.
export const live = (name = 'verdict') => element('p', {class: name, 'aria-live': 'polite'});
// Makes outdated results pale.
export const set_stale = (stale, ...nodes) => nodes.forEach(node => node.classList.toggle('stale', stale));

export const button = (words, act, attributes = {}) =>
    element('button', {type: 'button', onclick: act, ...attributes}, words);

// A label and its control, in one line. Screen readers read `help` with the control.
let labelled = 0;
export function field(words, control, help = '') {
  control.id ||= `field-${++labelled}`;
  const label = element('label', {class: 'field', for: control.id}, element('span', {}, words), control);
  if (help) {
    const note = element('small', {id: `${control.id}-help`}, help);
    control.setAttribute('aria-describedby', note.id);
    label.append(note);
  }
  return label;
}
export function choices(list, chosen, change, attributes = {}) {
  const select = element('select', {onchange: () => change(select.value), ...attributes});
  for (const {name, words = name} of list)
    select.append(element('option', {value: name, selected: name === chosen}, words));
  return select;
}
export function number(value, low, high, change = kept => {}) {
  const onchange = () => {
    const least = Number(input.min), most = Number(input.max);  // both may have changed
    const asked = Math.round(Number(input.value)), kept = Math.min(most, Math.max(least, asked || least));
    if (kept !== asked) say(`The field accepts whole numbers from ${least} to ${most}. It is ${kept} now.`);
    input.value = kept;
    change(kept);
  };
  const input = element('input', {type: 'number', min: low, max: high, value, onchange});
  return input;
}
// change: called with the number while the slider moves.
export function slider(value, low, high, change, attributes = {}) {
  const oninput = event => change(Number(event.target.value));
  return element('input', {type: 'range', min: low, max: high, value, oninput, ...attributes});
}
// change: called with the text and its field when the text has changed.
export function text_line(value, change, attributes = {}) {
  const onchange = ({target}) => change(target.value.trim(), target);
  return element('input', {type: 'text', value, spellcheck: 'false', onchange, ...attributes});
}
// A text field in which a name of the program is typed or chosen; options of schemes and compositions can be typed.
export function named_line(kind, list, value, change, attributes = {}) {
  const id = `names-${kind}`, options = list.map(({name, summary}) => element('option', {value: name}, summary));
  if (!document.getElementById(id)) document.body.append(element('datalist', {id}, options));
  return text_line(value, change, {list: id, autocomplete: 'off', ...attributes});
}
// A switch with its label.
export function toggle(words, on, change) {
  const made = button(words, () => {
    const now = made.getAttribute('aria-checked') !== 'true';
    made.setAttribute('aria-checked', now);
    change(now);
  }, {role: 'switch', 'aria-checked': String(on), class: 'switch'});
  return made;
}

// Shows a message at the foot of the window; a screen reader reads it when it is idle.
let hide_soon;
export function say(words, {bad = false} = {}) {
  const line = document.getElementById('said');
  line.textContent = words;
  line.classList.toggle('bad', bad);
  line.classList.add('shown');
  clearTimeout(hide_soon);
  hide_soon = setTimeout(() => line.classList.remove('shown'), bad ? 12000 : 6000);
}
// Describes the change in a picture, only for a screen reader.
export function tell(words) {
  document.getElementById('told').textContent = words;
}

// The current value of one of the page's colours.
export const colour_of = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Draws shapes as a picture with a description for screen readers. Unchanged shapes are left alone, because parsing is
// the cost of drawing. fit: SVG's preserveAspectRatio. Returns the picture.
const drawn_shapes = new WeakMap();
export function draw_svg(holder, shapes, width, height, words, fit = 'xMidYMid') {
  if (!holder.firstChild) holder.innerHTML = '<svg role="img"></svg>';
  const svg = holder.firstChild;
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  if (svg.getAttribute('aria-label') !== words) svg.setAttribute('aria-label', words);
  svg.setAttribute('preserveAspectRatio', fit);
  if (drawn_shapes.get(svg) !== shapes) svg.innerHTML = shapes;
  drawn_shapes.set(svg, shapes);
  return svg;
}
export const draw_chart = (holder, chart, words) =>
    draw_svg(holder, chart_shapes(chart), chart.width, chart.height, words);
// Sets a text only if it has changed.
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Whether the screen is as narrow as a phone's: then pictures are half as wide, so that their texts stay readable.
export const is_narrow = () => matchMedia('(max-width: 40rem)').matches;

export function save(name, data, type) {
  const address = URL.createObjectURL(new Blob([data], {type}));
  const link = element('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(`Saved as ${name}.`);
}
// An SVG file as PNG, twice as large.
export async function save_png(name, text, width, height) {
  const image = new Image(), canvas = element('canvas', {width: 2 * width, height: 2 * height});
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  canvas.getContext('2d').drawImage(image, 0, 0, 2 * width, 2 * height);
  const blob = await new Promise(done => canvas.toBlob(done, 'image/png'));
  if (!blob) return say('The browser could not make a PNG of this picture. Save the SVG instead.', {bad: true});
  save(name, blob, 'image/png');
}
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is in the clipboard.`);
  } catch {
    say(`The browser does not let the page copy. Select and copy it yourself: ${text}`);
  }
}
