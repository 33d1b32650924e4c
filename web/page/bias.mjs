// A user's bias as the encoding of a lane, spelled own(-abs(i - j)). For the engine it becomes the program's scheme
// `calibrated`, with one number for each head and each distance between slots.
import {read_expression, refuse} from './expression.mjs';
import {near} from './laws.mjs';

const HIDDEN = -500, MOST = 500;  // the program's range; lower values hide their keys

// The expression of own(...), or null for an encoding of the program.
export const own_text = encoding => /^own\((.*)\)$/s.exec(encoding)?.[1] ?? null;

// The program's spelling, for all distances in strings up to five times the trained length. Throws a sentence.
export function calibrated_bias(text, {layers, heads, train_length}) {
  const bias = read_expression(text), reach = 15 * train_length + 20, lists = [];
  const at = (d, h, from, n) => bias({i: from + Math.max(0, -d), j: from + Math.max(0, d), h, n});
  for (let h = 0; h < heads; ++h) {
    const words = [];
    for (let d = -reach; d <= reach; ++d) {
      const b = at(d, h, 0, 2 * reach);
      if (Number.isNaN(b) || b > MOST)
        refuse(`The bias is ${b} at distance ${d}, head ${h}; in a race it is at most ${MOST}.`);
      for (const other of [at(d, h, 1, 2 * reach), at(d, h, 17, 2 * reach), at(d, h, 0, 4 * reach)])
        if (!near(b, other))
          refuse(`At distance ${d} the bias depends on more than j - i and h, so it cannot race here; ` +
              'docs/own_scheme.md of poslab makes a scheme of any formula in a file of 40 lines.');
      if (b >= HIDDEN) words.push(`${d}:${Number(b.toPrecision(6))}`);
    }
    if (!words.length) refuse(`Head ${h} hides every key: some bias has to be above ${HIDDEN}.`);
    lists.push(words.join(' '));
  }
  if (lists.every(list => list === lists[0])) return `calibrated:of=all ${lists[0]}`;
  const of_layer = layer => lists.map((list, h) => `${layer + 1}.${h + 1} ${list}`).join(' ');
  return `calibrated:of=${Array.from({length: layers}, (_, layer) => of_layer(layer)).join(' ')}`;
}
