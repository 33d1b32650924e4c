// Checks whether a user's bias, positions or frequencies obey the laws of all schemes (docs/encodings.md, A.7), and
// whether a longer string has values that training does not have. Each finding is {law, holds: true | false | null,
// words}; null means neither good nor bad.

import {range_of} from './pairs.mjs';

// Two infinities of the same sign are equal; infinity and a number are not.
export const near = (a, b) =>
    a === b || Number.isFinite(a - b) && Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
const shown = x => Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4)));

// The matrix of an expression: (heads, T, T).
export function bias_matrix(expression, T, heads = 4) {
  const matrix = new Float64Array(heads * T * T);
  const values = {i: 0, j: 0, h: 0, n: T};
  for (let at = 0; at < matrix.length; ++at) {
    values.j = at % T, values.i = Math.floor(at / T) % T, values.h = Math.floor(at / T / T);
    matrix[at] = expression(values);
  }
  return matrix;
}

// The first (head, i, j) for which `wrong` returns a reason, or nothing.
function first_pair(T, heads, wrong) {
  for (let h = 0; h < heads; ++h)
    for (let i = 0; i < T; ++i)
      for (let j = 0; j < T; ++j) {
        const words = wrong(h, i, j);
        if (words) return words;
      }
  return '';
}

const finding = (law, holds, words) => ({law, holds, words});

// `trained`: the slots of the longest training string; `tested`: those of a longer one.
export function laws_of_bias(expression, {trained = 40, tested = 120, heads = 4} = {}) {
  const at = (i, j, h, n) => expression({i, j, h, n});
  const infinite = first_pair(tested, heads, (h, i, j) => {
    const b = at(i, j, h, tested);
    return Number.isFinite(b) || b === -Infinity ? '' : `it is ${b} at i = ${i}, j = ${j}, h = ${h}`;
  });
  const found = [finding('Every value is a number', !infinite, infinite || 'or minus infinity, which masks')];
  const add = (...about) => found.push(finding(...about));
  if (infinite) return found;
  const shifted = first_pair(trained - 1, heads, (h, i, j) => {
    const b = at(i, j, h, trained), next = at(i + 1, j + 1, h, trained);
    return near(b, next) ? '' : `b(${i}, ${j}) is ${shown(b)}, b(${i + 1}, ${j + 1}) is ${shown(next)}`;
  });
  add('Only the distance counts (Toeplitz)', !shifted, shifted || 'the same along diagonals');
  const differing =
      first_pair(trained, heads, (h, i, j) => near(at(i, j, h, trained), at(i, 0, h, trained)) ? '' : 'keys differ');
  add('It tells keys apart', Boolean(differing),
      differing                          ? 'some row has more than one value' :
      at(0, 0, 0, trained) === -Infinity ? 'each row has one value; where that is minus infinity, no key is left' :
                                           'each row has one value, which softmax cancels: it does nothing');
  if (!differing) return found;
  const sided = first_pair(trained, heads, (h, i, j) => near(at(i, j, h, trained), at(j, i, h, trained)) ?
    '' : `b(${i}, ${j}) is not b(${j}, ${i}): it tells left from right`);
  add('Both sides look alike', null, sided || 'yes: alone it cannot tell left from right');
  const grows = first_pair(trained, heads, (h, i, j) => {
    const outer = j > i ? j + 1 : j - 1;
    return i === j || outer < 0 || outer >= trained || at(i, outer, h, trained) <= at(i, j, h, trained) + 1e-9 ?
        '' : `head ${h + 1} rises from key ${j} to key ${outer} of query ${i}`;
  });
  add('It falls with the distance', null, grows || 'yes, for every head');
  const length = first_pair(trained, heads, (h, i, j) => near(at(i, j, h, trained), at(i, j, h, tested)) ?
    '' : `b(${i}, ${j}) changes when the string gets longer`);
  add('Longer strings leave it as it is', !length, length || 'no pair changes');
  const [low, high] = range_of(bias_matrix(expression, trained, heads));
  const [least, most] = range_of(bias_matrix(expression, tested, heads));
  add('Beyond the edge it stays in the range of training', least >= low - 1e-6 && most <= high + 1e-6,
      `${shown(low)} to ${shown(high)} at ${trained} slots, ${shown(least)} to ${shown(most)} at ${tested}`);
  return found;
}

export function laws_of_positions(expression, {trained = 40, tested = 120} = {}) {
  const list = n => Array.from({length: n}, (_, i) => expression({i, n}));
  const [short, long] = [list(trained), list(tested)];
  const wrong = long.findIndex(p => !Number.isFinite(p));
  const first = finding('Every position is a number', wrong < 0, wrong < 0 ?
    `the first are ${long.slice(0, 4).map(shown).join(', ')}` : `token ${wrong} has ${long[wrong]}`);
  if (wrong >= 0) return [first];
  const falls = long.findIndex((p, i) => i && p <= long[i - 1]);
  const unlike = (a, b) => a.filter(p => !b.some(q => near(p, q))).length;
  const gaps = all => all.slice(1).map((p, i) => p - all[i]);
  const [new_positions, new_gaps] = [unlike(long, short), unlike(gaps(long), gaps(short))];
  return [
    first, finding('Later tokens have larger positions', falls < 0, falls < 0 ?
      'so the order can be read' : `token ${falls} has ${shown(long[falls])} after ${shown(long[falls - 1])}`),
    finding('Beyond the edge all positions were met', !new_positions,
            `${tested - new_positions} of ${tested} occur in a string of ${trained} slots`),
    finding('Beyond the edge all gaps were met', !new_gaps,
            `${tested - 1 - new_gaps} of ${tested - 1} gaps between neighbours occur there`)
  ];
}

export function laws_of_frequencies(list, {trained = 40} = {}) {
  const turns = list.map(f => f * trained / (2 * Math.PI)), whole = turns.filter(t => t >= 1).length;
  const rises = list.findIndex((f, m) => m && f > list[m - 1]);
  const fast = list.findIndex(f => f > Math.PI);
  return [
    finding('From fast to slow', rises < 0, rises < 0 ?
      'as in RoPE' : `pair ${rises + 1} is faster than pair ${rises}`),
    finding('No pair turns more than half a circle a position', fast < 0, fast < 0 ?
      'so no pair is mistaken for a slower one' : `pair ${fast + 1} does, and looks like a slower one`),
    finding('Pairs that complete a turn in training', null, `${whole} of ${list.length}; the others have covered ` +
      'only a part of their circle, and longer strings cover more')
  ];
}
