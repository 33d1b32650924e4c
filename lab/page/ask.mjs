// The parts that only `poslab ask -o` draws: each question's string, and its attention with one choice of layer and
// head for all.
import {answered, element} from './element.mjs';
import {draw_shared, map_card, shared, tell_slots} from './matrix.mjs';

// {input, correct: as texts, expected, said: symbols, words: one for each symbol said, scored}
export function strings({input, correct, expected, said, words, scored}) {
  return answered(input, ['correct', correct], words.map((word, o) => [word, said[o] === expected[o]]), scored);
}

// {input, expected, said, block, layers: [[matrix, ...], ...]}: in a layer the maximum, then each head
export function question({input, expected, said, block, layers}) {
  const place = element('div', {class: 'drawing'}), n = input.length, slots = n + expected.length;
  const symbols = [...input, ...expected.map(() => '·')];
  const name = slot => slot < n ?
      `slot ${slot + 1} (${input[slot]})` :
      `answer slot ${slot - n + 1} (correct ${expected[slot - n]}, says ${said[slot - n]})`;
  const tell = tell_slots({block, slots, name});
  draw_shared(() => {
    const {layer, head} = shared;
    const about = block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : '';
    const label =
        `Attention of layer ${layer + 1}, ${head ? `head ${head}` : 'maximum over heads'}`;
    place.replaceChildren(map_card(
        element('p', {class: 'said'}, `${label}.`), layers[layer][head],
        {label, about, tell, block, part: n, symbols}));
  });
  return place;
}
