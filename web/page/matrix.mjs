// A matrix on a canvas, read with the pointer or with the arrow keys.
import {element} from '../../lab/page/element.mjs';
import {short} from '../../lab/page/text.mjs';
import {ramp} from '../../lab/page/theme.mjs';

const STILL = 240;  // pixels a side at which a cell may stay what it is
const NAMED = 32;   // slots whose names have room

// {size, values: Float32Array (T, T), two_sided, words(i, j, value), title, least, most, names}; the range is that of
// the values unless it is given; names: of the slots, written along both sides while there is room. Rows are queries,
// columns keys; a value that is no number leaves its cell empty.
export class Matrix {
  constructor(title) {
    this.said = element('p', {class: 'said', 'aria-live': 'polite'});
    this.canvas = element('canvas', {tabindex: 0, role: 'img', class: 'matrix', width: STILL, height: STILL});
    this.scale = element('p', {class: 'scale'});
    this.above = element('div', {class: 'above', 'aria-hidden': 'true'});
    this.beside = element('div', {class: 'beside', 'aria-hidden': 'true'});
    this.node = element(
        'figure', {class: 'matrix-card'}, element('figcaption', {}, title),
        element('div', {class: 'cells'}, this.above, this.beside, this.canvas), this.scale, this.said);
    this.at = null;
    this.title = title;
    /** @type {(i: number, j: number) => void} */
    this.moved = () => {};  // for a second matrix that reads the same cell
    const point = event => {
      const box = this.canvas.getBoundingClientRect(), T = this.drawn?.size;
      if (T)
        this.read(
            Math.floor((event.clientY - box.top) / box.height * T),
            Math.floor((event.clientX - box.left) / box.width * T));
    };
    this.canvas.addEventListener('pointermove', point);
    this.canvas.addEventListener('pointerdown', point);
    this.canvas.addEventListener('keydown', event => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!step || !this.drawn) return;
      event.preventDefault();
      event.stopPropagation();
      const [i, j] = this.at ?? [0, 0], wide = event.shiftKey ? 10 : 1;
      this.read(i + wide * step[0], j + wide * step[1]);
    });
  }
  draw(drawn) {
    this.drawn = drawn;
    const {size, values, two_sided} = drawn, finite = values.filter(Number.isFinite);
    let low = drawn.least ?? finite.reduce((a, b) => Math.min(a, b), Infinity);
    let high = drawn.most ?? finite.reduce((a, b) => Math.max(a, b), -Infinity);
    if (two_sided) high = Math.max(Math.abs(low), Math.abs(high)), low = -high;
    const image = new ImageData(size, size);
    const shades = ramp(two_sided ? '--diverging' : '--sequential');
    for (let n = 0; n < values.length; ++n) {
      if (!Number.isFinite(values[n])) continue;
      const share = high > low ? (values[n] - low) / (high - low) : .5;
      image.data.set([...shades[Math.round(255 * Math.min(1, Math.max(0, share)))], 255], 4 * n);
    }
    const whole = Math.max(1, Math.round(STILL * 2 / size)), small = element('canvas', {width: size, height: size});
    small.getContext('2d').putImageData(image, 0, 0);
    this.canvas.width = this.canvas.height = whole * size;
    const pen = this.canvas.getContext('2d');
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, whole * size, whole * size);
    const names = size <= NAMED ? drawn.names ?? [] : [];
    for (const side of [this.above, this.beside]) side.replaceChildren(...names.map(name => element('span', {}, name)));
    const range = finite.length ? `${short(low)} to ${short(high)}` : 'no cell has a number';
    if (high > low)
      this.scale.replaceChildren(
          short(low), element('i', {class: two_sided ? 'diverging' : 'sequential'}), short(high));
    else
      this.scale.textContent = range;
    this.canvas.setAttribute(
        'aria-label',
        `${drawn.title ?? this.title}: ${size} rows of query, ${size} columns of key, ` +
            `${range}. Arrow keys read a cell.`);
    if (this.at)
      this.read(...this.at, false);
    else
      this.said.textContent = 'Point at a cell, or use the arrow keys.';
  }
  read(i, j, tell = true) {
    const {size, values, words} = this.drawn, inside = x => Math.max(0, Math.min(size - 1, x));
    this.at = [i, j] = [inside(i), inside(j)];
    const value = values[i * size + j];
    this.said.textContent = words ? words(i, j, value) : `query ${i}, key ${j}: ${short(value)}`;
    if (tell) this.moved(i, j);
  }
}
