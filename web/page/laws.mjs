// Whether a bias, positions or frequencies of one's own obey the laws that every scheme of poslab is checked against
// (docs/encodings.md, A.7), and whether a longer string meets values that training has not. Each finding is
// {law, holds: true | false | null, words}; null: neither good nor bad.

// Two infinities of one sign are equal; one and a number are not.
export const near = (a, b) =>
    a === b || Number.isFinite(a - b) && Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
const shown = x => Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4)));

// The matrix of an expression: (heads, T, T).
export function bias_matrix(expression, T, heads = 4) {
  const matrix = new Float32Array(heads * T * T);
  const values = {i: 0, j: 0, h: 0, n: T};
  for (let at = 0; at < matrix.length; ++at) {
    values.j = at % T, values.i = Math.floor(at / T) % T, values.h = Math.floor(at / T / T);
    matrix[at] = expression(values);
  }
  return matrix;
}

// A first pair of (head, i, j) for which `wrong` says something; or nothing.
function first_pair(T, heads, wrong) {
  for (let h = 0; h < heads; ++h)
    for (let i = 0; i < T; ++i)
      for (let j = 0; j < T; ++j) {
        const words = wrong(h, i, j);
        if (words) return words;
      }
  return '';
}

// `trained` slots are those of the longest string of training; `tested` those of a longer one.
export function laws_of_bias(expression, {trained = 40, tested = 120, heads = 4} = {}) {
  const at = (i, j, h, n) => expression({i, j, h, n});
  const infinite = first_pair(tested, heads, (h, i, j) => {
    const b = at(i, j, h, tested);
    return Number.isFinite(b) || b === -Infinity ? '' : `it is ${b} at i = ${i}, j = ${j}, h = ${h}`;
  });
  const found =
      [{law: 'Every value is a number', holds: !infinite, words: infinite || 'or minus infinity, which masks'}];
  if (infinite) return found;
  const shifted = first_pair(
      trained - 1, heads,
      (h, i, j) => near(at(i, j, h, trained), at(i + 1, j + 1, h, trained)) ?
          '' :
          `b(${i}, ${j}) is ${shown(at(i, j, h, trained))}, b(${i + 1}, ${j + 1}) is ${
              shown(at(i + 1, j + 1, h, trained))}`);
  found.push(
      {law: 'Only the distance counts (Toeplitz)', holds: !shifted, words: shifted || 'the same along diagonals'});
  const differing =
      first_pair(trained, heads, (h, i, j) => near(at(i, j, h, trained), at(i, 0, h, trained)) ? '' : 'keys differ');
  found.push({
    law: 'It tells keys apart',
    holds: Boolean(differing),
    words: differing                             ? 'some row has more than one value' :
        at(0, 0, 0, trained) === -Infinity ? 'each row has one value; where that is minus infinity, no key is left' :
                                             'each row has one value, which softmax cancels: it does nothing'
  });
  if (!differing) return found;
  const sided = first_pair(
      trained, heads,
      (h, i, j) => near(at(i, j, h, trained), at(j, i, h, trained)) ?
          '' :
          `b(${i}, ${j}) is not b(${j}, ${i}): it tells left from right`);
  found.push({law: 'Both sides look alike', holds: null, words: sided || 'yes: alone it cannot tell left from right'});
  const grows = first_pair(trained, heads, (h, i, j) => {
    const outer = j > i ? j + 1 : j - 1;
    return i === j || outer < 0 || outer >= trained || at(i, outer, h, trained) <= at(i, j, h, trained) + 1e-9 ?
        '' :
        `head ${h + 1} rises from key ${j} to key ${outer} of query ${i}`;
  });
  found.push({law: 'It falls with the distance', holds: null, words: grows || 'yes, for every head'});
  const length = first_pair(
      trained, heads,
      (h, i, j) =>
          near(at(i, j, h, trained), at(i, j, h, tested)) ? '' : `b(${i}, ${j}) changes when the string gets longer`);
  found.push({law: 'Longer strings leave it as it is', holds: !length, words: length || 'no pair changes'});
  const range = n => {
    let low = Infinity, high = -Infinity;
    first_pair(n, heads, (h, i, j) => {
      const b = at(i, j, h, n);
      if (b > -Infinity) low = Math.min(low, b), high = Math.max(high, b);
      return '';
    });
    return [low, high];
  };
  const [low, high] = range(trained), [least, most] = range(tested),
              inside = least >= low - 1e-6 && most <= high + 1e-6;
  found.push({
    law: 'Beyond the edge it stays in the range of training',
    holds: inside,
    words: `${shown(low)} to ${shown(high)} at ${trained} slots, ${shown(least)} to ${shown(most)} at ${tested}`
  });
  return found;
}

export function laws_of_positions(expression, {trained = 40, tested = 120} = {}) {
  const list = n => Array.from({length: n}, (_, i) => expression({i, n}));
  const [short, long] = [list(trained), list(tested)];
  const wrong = long.findIndex(p => !Number.isFinite(p));
  const found = [{
    law: 'Every position is a number',
    holds: wrong < 0,
    words: wrong < 0 ? `the first are ${long.slice(0, 4).map(shown).join(', ')}` : `token ${wrong} has ${long[wrong]}`
  }];
  if (wrong >= 0) return found;
  const falls = long.findIndex((p, i) => i && p <= long[i - 1]);
  found.push({
    law: 'Later tokens have larger positions',
    holds: falls < 0,
    words: falls < 0 ? 'so the order can be read' :
                       `token ${falls} has ${shown(long[falls])} after ${shown(long[falls - 1])}`
  });
  const unlike = (a, b) => a.filter(p => !b.some(q => near(p, q))).length;
  const gaps = all => all.slice(1).map((p, i) => p - all[i]);
  const [new_positions, new_gaps] = [unlike(long, short), unlike(gaps(long), gaps(short))];
  found.push({
    law: 'Beyond the edge all positions were met',
    holds: !new_positions,
    words: `${tested - new_positions} of ${tested} occur in a string of ${trained} slots`
  });
  found.push({
    law: 'Beyond the edge all gaps were met',
    holds: !new_gaps,
    words: `${tested - 1 - new_gaps} of ${tested - 1} gaps between neighbours occur there`
  });
  return found;
}

export function laws_of_frequencies(list, {trained = 40} = {}) {
  const turns = list.map(f => f * trained / (2 * Math.PI)), whole = turns.filter(t => t >= 1).length;
  const rises = list.findIndex((f, m) => m && f > list[m - 1]);
  const fast = list.findIndex(f => f > Math.PI);
  return [
    {
      law: 'From fast to slow',
      holds: rises < 0,
      words: rises < 0 ? 'as in RoPE' : `pair ${rises + 1} is faster than pair ${rises}`
    },
    {
      law: 'No pair turns more than half a circle a position',
      holds: fast < 0,
      words: fast < 0 ? 'so no pair is mistaken for a slower one' : `pair ${fast + 1} does, and looks like a slower one`
    },
    {
      law: 'Pairs that come round in training',
      holds: null,
      words:
          `${whole} of ${list.length}; the others have shown a part of their circle only, and longer strings show more`
    },
  ];
}
