// A matrix of queries and keys that is redrawn often.
import {element} from '../../lab/page/element.mjs';
import {live} from './dom.mjs';
import {draw_map, scale_bar} from '../../lab/page/matrix.mjs';
import {short} from '../../lab/page/text.mjs';

// The least and the greatest of the values that are numbers.
export function range_of(values) {
  const finite = values.filter(Number.isFinite);
  return [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
}

export class Matrix {
  constructor(title) {
    this.caption = element('figcaption', {}, title);
    this.picture = element('div');
    this.said = live('said');
    this.node = element('figure', {class: 'matrix-card'}, this.caption, this.picture, this.said);
    this.beside = [];  // other matrices, which show the same cell
  }
  // {size, values (T, T), two_sided, words(i, j, value), title, least, most, names}. The range of colours is that of
  // the values unless least and most are given. names: those of the slots, along both sides if there is room.
  /** @param {any} drawn */
  draw({size, values, two_sided = false, words, title = this.caption.textContent, least, most, names}) {
    const [lowest, highest] = range_of(values), low = least ?? lowest, high = most ?? highest;
    const matrix = {rows: size, cols: size, low, high, values, two_sided};
    const range = lowest <= highest ? `${short(low)} to ${short(high)}` : 'no cell has a number';
    this.said.textContent = 'Point at a cell, or use the arrow keys.';
    this.map = draw_map(matrix, {
      label: `${title}: ${size} rows of query, ${size} columns of key, ${range}. Arrow keys read a cell.`,
      said: this.said, row: 'query', col: 'key', first: 0, symbols: names,
      tell: words ?? ((i, j, value) => `query ${i}, key ${j}: ${short(value)}`),
      moved: (...at) => this.beside.forEach(({map}) => at.length ? map?.show(...at) : map?.hide())
    });
    this.picture.replaceChildren(this.map, high > low ? scale_bar(matrix) : element('p', {class: 'scale'}, range));
  }
}
