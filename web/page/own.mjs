// Write your own: a bias or a position as an expression, or a list of frequencies. Its laws are checked at once, and it
// can race if the program has a spelling for it.
import {calibrated_bias} from './bias.mjs';
import {choice, element} from '../../lab/page/element.mjs';
import {block, button, draw_chart, fault, field, is_narrow, note, say, set_stale, table_of, view_of} from './dom.mjs';
import {FUNCTION_NAMES, read_expression, read_frequencies} from './expression.mjs';
import {bias_matrix, laws_of_bias, laws_of_frequencies, laws_of_positions} from './laws.mjs';
import {plain_lane} from './link.mjs';
import {Matrix} from './pairs.mjs';

const FUNCTIONS = ` Functions: ${FUNCTION_NAMES.join(', ')}; if(c, a, b).`;
const KINDS = {
  bias: {
    words: 'a bias', first: '-abs(i - j) / 2^(2*h + 2)', read: text => read_expression(text), laws: laws_of_bias,
    help: 'The term added to the logit of query i and key j in head h (from 0), with n slots. It may race if it ' +
        `depends on j - i and h alone.${FUNCTIONS}`
  },
  positions: {
    words: 'positions', first: 'if(i < 20, i, 20 + log2(i - 19))', read: text => read_expression(text, ['i', 'n']),
    laws: laws_of_positions, help: `The position of token i of n. It is given to RoPE when it races.${FUNCTIONS}`
  },
  frequencies: {
    words: 'frequencies', first: '1, 0.1, 0.01, 0.001', read: read_frequencies, laws: laws_of_frequencies,
    help: 'Radians per position for each pair of channels of a head, the fastest first: RoPE has 1, 0.1, 0.01, …'
  }
};

const VERDICTS = new Map([[null, ['quiet', '–']], [true, ['good', '✓ holds']], [false, ['bad', '✗ broken']]]);
function row_of({law, holds, words}) {
  const [name, verdict] = VERDICTS.get(holds);
  return element(
      'tr', {}, element('td', {class: name}, verdict), element('th', {scope: 'row'}, law), element('td', {}, words));
}

// The program's spelling of the user's encoding, or the reason why there is none. text: the text of a bias; sizes:
// layers, heads and train_length of the model.
/**
 * @param {string} kind
 * @param {any} read
 * @param {{text?: string, sizes?: any, pool?: number, base?: number, head_dim?: number}} about
 */
export function spelled_own(kind, read, {text = '', sizes, pool = 400, base = 10000, head_dim = 16} = {}) {
  const digits = x => String(Number(x.toPrecision(7)));
  if (kind === 'bias') {
    try {
      calibrated_bias(text, sizes);
    } catch (wrong) {
      return {why: wrong.message};
    }
    return {encoding: `own(${text.trim()})`, positions: 'sequential'};
  }
  if (kind === 'positions') {
    const list = Array.from({length: pool}, (_, i) => read({i, n: pool}));
    if (list.slice(0, 40).some((p, i) => !Object.is(p, read({i, n: 40}))))
      return {why: 'It depends on n, but a list of positions cannot.'};
    if (list.some(p => !Number.isFinite(p))) return {why: 'Some position is not a number.'};
    return {encoding: 'rope', positions: `given:at=${list.slice(0, 240).map(digits).join('/')}`};
  }
  // Pair m of the program turns by base^(-2m/D) / factor_m.
  const pairs = head_dim / 2;
  if (!Number.isInteger(pairs))
    return {why: 'With the race’s width a head has no even number of channels; change width or heads.'};
  if (read.length !== pairs)
    return {why: `A head of this page’s models has ${pairs} pairs of channels, and the list has ` +
        `${read.length}: give ${pairs}, or change width and heads in the race.`};
  const factors = read.map((f, m) => base ** (-2 * m / head_dim) / f);
  if (factors.some(f => f < .001 || f > 1e6))
    return {why: 'A pair is more than 1000 times as fast as RoPE’s, or a millionth as fast; the program takes what ' +
        'lies between.'};
  const list = factors.map(digits).join('/');
  return {encoding: `longrope:long=${list},short=${list},factor=1`, positions: 'sequential'};
}

export function own_view(app) {
  const {state} = app;
  const text = element('textarea', {
    rows: 3, spellcheck: 'false', maxlength: 600, oninput: () => {
      state.expression = text.value;
      app.changed();
      check();
    }
  });
  const wrong = fault(), table = element('div', {class: 'laws', 'aria-live': 'polite'});
  const map = new Matrix('The bias of the first head (h = 0)'), picture = block('picture'), help = note();
  let read = null;
  const extent = () => ({trained: 2 * state.train_length, tested: 6 * state.train_length});

  function check() {
    read = null;
    try {
      read = KINDS[state.own].read(text.value);
      wrong.textContent = '';
    } catch (problem) {
      wrong.textContent = problem.message;
    }
    race.disabled = !read;
    set_stale(!read, table, map.node, picture);
    if (!read) return;
    table.replaceChildren(table_of(
        `At ${extent().trained} slots, the longest string of training with its answer, and at ${extent().tested}. ` +
            '– is neither good nor bad.',
        KINDS[state.own].laws(read, extent()).map(row_of)));
    draw();
  }
  function draw() {
    const {trained, tested} = extent();
    map.node.hidden = state.own !== 'bias';
    picture.hidden = state.own === 'bias';
    if (state.own === 'bias') {
      const T = Math.min(tested, 96), values = bias_matrix(read, T, 1);
      map.caption.textContent = `The bias of the first head (h = 0), ${T} slots`;
      return map.draw({size: T, values, two_sided: values.some(v => v > 0) && values.some(v => v < 0)});
    }
    const points = state.own === 'positions' ? Array.from({length: tested}, (_, i) => [i, read({i, n: tested})]) :
                                               read.map((f, m) => [m + 1, 2 * Math.PI / f]);
    const ys = points.map(([, y]) => y).filter(Number.isFinite), low = Math.min(0, ...ys), high = Math.max(1, ...ys);
    const waves = state.own === 'frequencies', width = is_narrow() ? 320 : 520;
    draw_chart(picture, {
      width, height: 260, x: [waves ? 1 : 0, Math.max(2, points.at(-1)[0])],
      y: waves ? [1, high * 1.2] : [low, high], log_y: waves, x_label: waves ? 'pair of channels' : 'token',
      y_label: waves ? 'positions a turn' : 'position', shaded: waves ? 0 : trained,
      curves: [{name: 'yours', colour: 'var(--c0)', points}]
    }, waves ? 'Positions for a full turn, by pair of channels' : 'Position by token');
  }
  const race = button('Race it', () => {
    const made = spelled_own(state.own, read, {
      text: text.value, sizes: state, pool: Number(state.max_position), head_dim: state.d_model / state.heads
    });
    if (made.why) return say(made.why, {bad: true});
    const rival = plain_lane(state.own === 'bias' ? 'alibi' : 'rope');
    app.race_lanes?.forEach(lane => lane.end());
    app.race_lanes = null;
    state.lanes = [rival, {...rival, ...made}];
    app.go('race');
    say(`Your own encoding is in lane 2, ${rival.encoding} in lane 1. Press Train all.`);
  }, {class: 'main'});
  const names = Object.keys(KINDS), kinds = Object.values(KINDS), chosen = {kind: names.indexOf(state.own)};
  function choose() {
    state.own = names[chosen.kind];
    const {first, help: words} = KINDS[state.own];
    help.textContent = words;
    if (!state.expression || kinds.some(kind => kind.first === state.expression)) state.expression = first;
    text.value = state.expression;
    app.changed();
    check();
  }
  const again = () => (state.expression = '', choose());
  const node = view_of(
      'own', 'Write your own', 'While you type a formula, the page checks its laws. It runs nothing but the formula.',
      choice('Write', kinds.map(kind => kind.words), chosen, 'kind', again),
      field('formula', text), help, wrong, block('two', table, element('div', {}, map.node, picture)),
      block('buttons', race));
  choose();
  return {node, lanes: []};
}
