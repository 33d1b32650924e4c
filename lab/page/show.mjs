// The parts that only `poslab show -o` draws: the matrices of each view, with one choice of head for all, and pairs of
// channels as clock hands that turn with the distance.
import {element, player} from './element.mjs';
import {draw_shared, map_card, shared} from './matrix.mjs';
import {short} from './text.mjs';

// {row, col, first_row, matrices: [{of, block, heads}]}
export function matrices({row, col, first_row, matrices: all}) {
  const place = element('div', {class: 'grid'});
  draw_shared(() => place.replaceChildren(...all.map(({of, block, heads}) => {
    const at = Math.min(shared.head, heads.length - 1), matrix = heads[at];
    const title = `${of}${heads.length > 1 ? `, head ${at + 1}` : ''}`;
    const name = n => block > 1 ? `${n * block} to ${n * block + block - 1}` : String(n);
    const tell = (i, j, v) =>
        `${row} ${name(i + first_row)}, ${col} ${name(j)}: ${short(v)}${block > 1 ? ' on average' : ''}.`;
    const about = block > 1 ? `A cell is the mean of ${block} by ${block}.` : '';
    return map_card(
        element('p', {class: 'said'}, title), matrix,
        {label: title, about, tell, block, first: 0, first_row, row, col});
  })));
  return place;
}

const most_clocks = 16;  // for one scheme; if it has more pairs, evenly spaced ones are shown
function clock(frequency, pair, color) {
  const hand = element('path', {class: 'key'});
  const name = frequency === 0 ? 'does not turn' : `${short(2 * Math.PI / Math.abs(frequency))} to a turn`;
  return {
    // 0 is up, and positions turn clockwise: the hand of a key on the left of the query lags behind
    turn: relative => hand.setAttribute(
        'd', relative === null ? '' : `M0 0L${34 * Math.sin(frequency * relative)} ${
                                         -34 * Math.cos(frequency * relative)}`),
    picture: element(
        'svg', {class: `clock ${color}`, viewBox: '-40 -40 80 104', role: 'img', 'aria-label': `pair ${pair}: ${name}`},
        element('circle', {r: 38}), element('path', {class: 'query', d: 'M0 0V-38'}), hand,
        element('text', {y: 51}, `pair ${pair}`), element('text', {y: 63}, name))
  };
}

// {hands: [{of, frequencies, relative}]}
export function hands({hands: all}) {
  const schemes = all.map(({of, frequencies, relative}, n) => {
    const shown = Math.min(most_clocks, frequencies.length);
    const clocks = Array.from({length: shown}, (_, i) => {
      const pair = shown > 1 ? Math.round(i * (frequencies.length - 1) / (shown - 1)) : 0;
      return clock(frequencies[pair], pair + 1, `c${n % 8}`);
    });
    const said = element('p', {class: 'said'});
    const card = element(
        'div', {class: 'card'}, element('h3', {}, of), element('div', {class: 'clocks'}, ...clocks.map(c => c.picture)),
        said);
    const turn = d => {
      clocks.forEach(c => c.turn(relative[d]));
      const cosines = frequencies.map(f => Math.cos(f * relative[d]));
      said.textContent = relative[d] === null ?
          'Masked: the query does not see this key.' :
          `Turned by ${short(relative[d])} positions. The mean cosine of all pairs is ` +
              `${(cosines.reduce((a, b) => a + b, 0) / cosines.length).toFixed(3)}.`;
    };
    return {card, turn};
  });
  const slots = all[0].relative.length, marks = Array.from({length: slots}, (_, d) => String(d));
  return element(
      'div', {class: 'hands drawing'},
      player('slots between query and key', marks, 0, d => schemes.forEach(s => s.turn(d)), Math.min(30, slots / 4)),
      element('div', {class: 'grid'}, ...schemes.map(s => s.card)));
}
