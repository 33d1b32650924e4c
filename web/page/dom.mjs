// The common part of the page: elements, messages for screen readers, and saved files.
import {element} from '../../lab/page/element.mjs';

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
export function number(value, low, high, change, attributes = {}) {
    const input = element('input', {
      type: 'number',
      min: low,
      max: high,
      value,
      ...attributes,
      onchange: () => {
        const least = Number(input.min), most = Number(input.max);  // which may have changed
        const asked = Math.round(Number(input.value)), kept = Math.min(most, Math.max(least, asked || least));
        if (kept !== asked) say(`That takes a whole number from ${least} to ${most}. It is ${kept} now.`);
        input.value = kept;
        change(kept);
      }
    });
    return input;
}
// change: called with the number while the slider moves.
export function slider(value, low, high, change, attributes = {}) {
  const oninput = event => change(Number(event.target.value));
  return element('input', {type: 'range', min: low, max: high, value, oninput, ...attributes});
}
// change: called with the text and its field, when the text has changed.
export function text_line(value, change, attributes = {}) {
  const onchange = ({target}) => change(target.value.trim(), target);
  return element('input', {type: 'text', value, spellcheck: 'false', onchange, ...attributes});
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
// One of several, as radio buttons in a row.
let groups = 0;
export function pills(legend, list, chosen, change) {
  const name = `pills-${++groups}`;
  return element(
      'fieldset', {class: 'pills'}, element('legend', {}, legend),
      list.map(
          ({name: value, words = value}) => element(
              'label', {},
              element(
                  'input', {type: 'radio', name, value, checked: value === chosen, onchange: () => change(value)}),
              element('span', {}, words))));
}

// A message at the foot of the window, and for a screen reader when it is idle.
let hide_soon;
export function say(words, {bad = false} = {}) {
  const line = document.getElementById('said');
  line.textContent = words;
  line.classList.toggle('bad', bad);
  line.classList.add('shown');
  clearTimeout(hide_soon);
  hide_soon = setTimeout(() => line.classList.remove('shown'), bad ? 12000 : 6000);
}
// The message belongs to the part that was left.
export const hush = () => document.getElementById('said').classList.remove('shown');
// Only for a screen reader: the change in a picture.
export function tell(words) {
  document.getElementById('told').textContent = words;
}

// The current colours of the page, by name.
export function colours() {
  const style = getComputedStyle(document.documentElement), all = {};
  for (const name
           of ['paper', 'ink', 'soft', 'faint', 'rule', 'wash', 'focus', 'met', 'unmet',
               ...Array.from({length: 8}, (_, n) => `c${n}`)])
    all[`--${name}`] = style.getPropertyValue(`--${name}`).trim();
  return all;
}
// Shapes as a picture with a description for screen readers. Unchanged shapes are left alone, as parsing is the cost of
// drawing. fit: SVG's preserveAspectRatio. Returns the picture.
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
// Sets a text only if it has changed.
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A screen as narrow as a phone's, where pictures are drawn half as wide, to keep their texts readable.
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
  if (!blob) return say('The browser could not make a PNG of this picture. The SVG has the same.', {bad: true});
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
