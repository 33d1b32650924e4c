// Position matrices: a scheme's value for every pair of slots, next to those of a second scheme and their difference;
// and the wavelengths of rotations compared with the trained length.
import {element} from '../../lab/page/element.mjs';
import {block, choices, draw_svg, fault, field, figure, is_narrow, named_line, note, number, row, set_stale,
        slider, view_of} from './dom.mjs';
import {ask_desk} from './engine.mjs';
import {scale} from '../../lab/page/scale.mjs';
import {escape, short} from '../../lab/page/text.mjs';
import {Matrix, range_of} from './pairs.mjs';

// The formula of a scheme with the positions of one pair put in, if positions are the numbers of slots.
export function with_numbers(formula, i, j) {
  const said = formula.replace(/\bp_i\b/g, i).replace(/\bp_j\b/g, j);
  return said === formula ? '' : `. ${said}`;
}

// The effects of the options in `name`, from the program's list: alibi:symmetric -> [["symmetric", ...]].
export function spelled_options(name, encodings) {
  const [scheme, spelled = ''] = name.split(/:(.*)/), known = encodings.find(e => e.name === scheme)?.options ?? [];
  const written = spelled.split(',').map(word => word.split('=')[0]);
  return known.filter(option => written.includes(option.name)).map(({name, about}) => [name, about]);
}

export function positions_view(app) {
  const {state, catalog} = app;
  const first = new Matrix('First'), second = new Matrix('Second'), difference = new Matrix('First minus second');
  const all = [first, second, difference], about = block('about'), waves = block('picture'), wrong = fault();
  const options = {head: 0, causal: false, positions: 'sequential', heads: 4, d_model: 64};
  let late = 0;
  for (const one of all) one.beside = all.filter(other => other !== one);

  const set = (key, value) => {
    state[key] = value;
    app.changed();
    draw();
  };
  const name_field = (words, key, placeholder) => field(words, named_line('encoding', catalog.encodings, state[key],
      text => set(key, text || (placeholder ? '' : state[key])), {placeholder}));
  const slots = slider(state.time, 8, 512, value => { shown.textContent = value; },
                       {step: 8, onchange: () => set('time', Number(slots.value))});
  const shown = element('output', {}, String(state.time));

  async function draw() {
    const mine = ++late;
    try {
      const T = state.time, drawn = [];
      for (const name of [state.matrix, state.beside].filter(Boolean))
        drawn.push({
          name,
          values: await ask_desk('matrix', name, T, options),
          said: await ask_desk('explain', name, {...options, length: T, train_length: state.train_length * 2})
        });
      if (mine !== late) return;
      wrong.textContent = '';
      set_stale(false, matrices, about, turns);
      // Two-sided if the smaller side is at least a twentieth of the larger: a little above zero needs no colour.
      /** @param {number[]} range */
      const signed = ([low, high]) => Math.min(high, -low) > .05 * Math.max(high, -low);
      const two_sided = drawn.some(d => signed(range_of(d.values)));
      // Two matrices of one quantity have one scale, so that a colour means the same in both.
      const alike = drawn.length > 1 && drawn[0].said.quantity === drawn[1].said.quantity;
      const [least, most] = alike ? range_of(drawn.flatMap(d => range_of(d.values))) : [];
      drawn.forEach(({name, values, said}, n) => {
        all[n].caption.textContent = `${name}: ${said.quantity}`;
        all[n].draw({
          size: T, values, two_sided, least, most, title: name,
          words: (i, j, value) =>
              `query ${i}, key ${j}, distance ${j - i}: ${Number.isNaN(value) ? 'masked' : short(value)}` +
              (options.positions === 'sequential' ? with_numbers(said.formula, i, j) : '')
        });
      });
      const [a, b] = drawn;
      second.node.hidden = !b;
      difference.node.hidden = !alike;
      if (alike) {
        difference.caption.textContent = `${a.name} minus ${b.name}`;
        difference.draw({
          size: T, values: a.values.map((v, n) => v - b.values[n]), two_sided: true,
          words: (i, j, value) =>
              `query ${i}, key ${j}: ${short(a.values[i * T + j])} − ${short(b.values[i * T + j])} = ${short(value)}`
        });
      }
      about.replaceChildren(
          ...drawn.map(({name, said}) => element(
              'div', {}, element('h3', {}, name), element('p', {}, said.about),
              element('p', {class: 'formula'}, said.formula || 'no formula: content alone decides'),
              note(said.shows, said.causal_only ? ` ${said.causal_only}` : '', ` (${said.source})`),
              spelled_options(name, catalog.encodings).map(
                  ([option, words]) => note(element('b', {}, option), `: ${words}`)))),
          b && !alike ?
              note(`No difference is drawn: one shows ${a.said.quantity}, the other ${b.said.quantity}.`) : '');
      draw_waves(drawn);
    } catch (problem) {
      if (mine !== late) return;
      wrong.textContent = problem.message;
      set_stale(true, matrices, about, turns);
    }
  }
  // How many positions a full turn of each pair of channels takes, on a logarithmic axis that marks the trained length.
  function draw_waves(drawn) {
    const with_waves = drawn.filter(({said}) => said.frequencies.some(f => f > 0)), edge = 2 * state.train_length;
    turns.hidden = !with_waves.length;
    if (turns.hidden) return;
    const rows = with_waves.flatMap(({name, said}) => said.frequencies.map(
        (f, pair) => ({name, pair, length: f > 0 ? 2 * Math.PI / f : Infinity})));
    const most = Math.max(edge * 10, ...rows.map(r => r.length).filter(Number.isFinite)) * 1.5;
    const narrow = is_narrow(), width = narrow ? 340 : 640, from = narrow ? 118 : 150, height = 40 + 22 * rows.length;
    const place = scale(1, most, from, width - 80, Math.log10), px = v => place(Math.min(most, Math.max(1, v)));
    const shapes = rows.map((row, k) => {
      const y = 30 + 22 * k, end = px(row.length);
      return `<text x="${from - 6}" y="${y + 4}" text-anchor="end" style="fill:var(--ink);font-size:12px">` +
          `${escape(row.name.slice(0, narrow ? 9 : 14))} pair ${row.pair + 1}</text>` +
          `<path d="M${from} ${y}H${end}" style="stroke:var(--${row.length <= edge ? 'met' : 'unmet'});` +
          `stroke-width:9"/><text x="${end + 5}" y="${y + 4}" style="fill:var(--soft);font-size:12px">` +
          `${Number.isFinite(row.length) ? short(row.length) : 'does not turn'}</text>`;
    }).join('');
    const trained = `trained: ${edge} slots${narrow ? '' : ', half of them for the answer'}`;
    draw_svg(
        waves,
        `<path d="M${px(edge)} 8V${height - 8}" style="stroke:var(--ink);stroke-dasharray:4 3"/>` +
            `<text x="${px(edge) + 4}" y="14" style="fill:var(--soft);font-size:12px">${trained}</text>${shapes}`,
        width, height,
        'Positions for a full turn: ' + rows.map(r => `${r.name} pair ${r.pair + 1} ${short(r.length)}`).join(', '));
  }
  const causal = element('input', {type: 'checkbox', onchange: () => (options.causal = causal.checked, draw())});
  const sampler = choices(catalog.samplers.map(({name}) => ({name})), options.positions,
                          name => (options.positions = name, draw()));
  const turns = figure(
      'How many positions a pair of channels takes for one turn, on a logarithmic axis: blue pairs complete one ' +
          'within the longest string of training, red pairs do not',
      waves);
  const matrices = block('matrices', all.map(one => one.node));
  const node = view_of(
      'positions', 'Positions, pair by pair',
      'What a scheme makes of each query (row) and key (column), before any training.',
      row(name_field('scheme', 'matrix', ''), name_field('beside it', 'beside', 'none beside it'),
          field('slots', slots), shown, field('head', number(1, 1, 4, value => (options.head = value - 1, draw()))),
          field('positions', sampler), field('causal mask', causal)),
      wrong, matrices, about, turns);
  second.node.hidden = difference.node.hidden = true;
  draw();
  return {node, lanes: []};
}
