// The parts that only `poslab ask -o` draws: each question's string, and its attention with one choice of layer and
// head for all.
import {element} from './element.mjs';
import {attention_card, draw_shared, shared, string_rows} from './matrix.mjs';

// asked: a string, as for attention_card().
export function question(asked) {
  const place = element('div', {class: 'drawing'});
  draw_shared(() => place.replaceChildren(attention_card(undefined, asked, shared, 'Attention of ')));
  return element('div', {}, string_rows(asked), place);
}
