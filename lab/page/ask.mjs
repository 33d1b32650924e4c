// What only `poslab ask -o` draws: each question's string, and its attention with one choice of layer and head for all.
import {choice, count, element} from './element.mjs';
import {draw_map, scale_bar, tell_slots} from './matrix.mjs';
import {escape} from './text.mjs';
import {draw} from './theme.mjs';

const chosen = {head: 0}, cards = [];  // head 0: the maximum over heads
const redraw = () => cards.forEach(card => card());

// {layers, heads}
export function choices({layers, heads}) {
  chosen.layer = layers - 1;
  draw(redraw);
  return element(
      'div', {id: 'choices'}, choice('layer', count(layers), chosen, 'layer', redraw),
      choice('head', ['max', ...count(heads)], chosen, 'head', redraw));
}

// {input, correct: as texts, expected, said: symbols, words: of each that is said, scored}
export function strings({input, correct, expected, said, words, scored}) {
  const answer = said.map((symbol, o) => {
    const word = escape(words[o]);
    return o >= scored ? `<span class="uncounted">${word}</span>` : symbol === expected[o] ? word : `<s>${word}</s>`;
  });
  const rows = [['input', escape(input)], ['correct', escape(correct)], ['answer', answer.join('')]];
  const lines = rows.map(([name, text]) => `<div><dt>${name}</dt><dd>${text}</dd></div>`);
  return `<dl class="strings">${lines.join('')}</dl>`;
}

// {input, expected, said, block, layers: [[matrix, ...], ...]}: of a layer the maximum and then each head
export function question({input, expected, said, block, layers}) {
  const place = element('div', {class: 'drawing'}), n = input.length, slots = n + expected.length;
  const symbols = [...input, ...expected.map(() => '·')];
  const name = slot => slot < n ?
      `slot ${slot + 1} (${input[slot]})` :
      `answer slot ${slot - n + 1} (correct ${expected[slot - n]}, says ${said[slot - n]})`;
  const tell = tell_slots({block, slots, name});
  cards.push(() => {
    const line = element(
        'p', {class: 'said', 'aria-live': 'polite'},
        block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : '');
    const matrix = layers[chosen.layer][chosen.head];
    const label =
        `Attention of layer ${chosen.layer + 1}, ${chosen.head ? `head ${chosen.head}` : 'maximum over heads'}`;
    place.replaceChildren(element(
        'div', {class: 'card'}, element('p', {class: 'said'}, `${label}.`),
        draw_map(matrix, {label, said: line, tell, block, part: n, symbols}), scale_bar(matrix), line));
  });
  cards.at(-1)();
  return place;
}
