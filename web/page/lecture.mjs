// A lecture of six scenes of one screen each, turned by the arrow keys. Its data were measured when the page was made
// (web/snapshots.mjs), so it needs no engine; speaker's notes unfold below.
import {baseline_curves, curves_of, legend_of} from './card.mjs';
import {dispersion_chart, dispersion_legend, MEASURES} from './dispersion.mjs';
import {element} from '../../lab/page/element.mjs';
import {block, button, draw_chart, draw_svg, figure, is_narrow, live, slider, tell} from './dom.mjs';
import {escape} from '../../lab/page/text.mjs';
import {percent} from './figures.mjs';
import {recorded_lanes} from './lane.mjs';

const H = 400;
const text = (x, y, words, size = 20, more = '') => `<text x="${x}" y="${
    y}" text-anchor="middle" style="fill:var(--ink);font-size:${size}px;${more}">${escape(words)}</text>`;
const box = (x, y, w, h, colour, words, size = 26) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" ` +
    `style="fill:var(--wash);stroke:${colour};stroke-width:2.5"/>${text(x + w / 2, y + h / 2 + size / 3, words, size)}`;

// The same random numbers in every lecture, from a separate generator, so that slides are those of the rehearsal.
export function draws(seed) {
  let x = seed;
  return () => (x = (Math.imul(x, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}
export function random_positions(count, pool, seed) {
  const next = draws(seed), chosen = new Set();
  while (chosen.size < count) chosen.add(Math.floor(next() * pool));
  return [...chosen].sort((a, b) => a - b);
}

// A picture with buttons below it. Each button changes and redraws the picture. changes: [[words, change], ...]
function played(draw, ...changes) {
  const holder = block('picture');
  draw(holder);
  return [holder, block('buttons', changes.map(([words, change]) => button(words, () => (change(), draw(holder)))))];
}

// A chart that fills the free part of the screen, and is redrawn when its size changes: draw(holder, {width, height}).
// Its texts grow with it, and stay readable if it is small.
function filling(draw) {
  const holder = block('picture');
  let size = {width: 900, height: H};
  const again = () => draw(holder, size);
  new ResizeObserver(([{contentRect: {width, height}}]) => {
    const scale = Math.max(.65, Math.min(height / H, width / 600));
    if (width && height) size = {width: Math.round(width / scale), height: Math.round(height / scale)}, again();
  }).observe(holder);
  again();
  return {holder, again};
}

function scene_positions() {
  const digits = [3, 0, 4, 1, 2], width = 720;
  let order = [0, 1, 2, 3, 4], seed = 7, labelled = false;
  const draw = holder => {
    const boxes = order.map((n, at) => {
      const words = labelled ? text(75 + 140 * at, 190, `position ${at}`, 22, 'fill:var(--c1);font-weight:600') : '';
      return box(20 + 140 * at, 60, 110, 90, 'var(--c0)', String(digits[n]), 44) + words;
    });
    const bag = labelled ? order.map((n, at) => `(${digits[n]}, ${at})`).join('   ') : [...digits].sort().join('   ');
    draw_svg(
        holder,
        boxes.join('') + text(width / 2, 270, 'What attention is given, in no order:', 26, 'fill:var(--soft)') +
            text(width / 2, 330, `{  ${bag}  }`, 38),
        width, H, `${order.map(n => digits[n]).join(' ')}; attention sees the bag ${bag}`);
  };
  const shuffle = () => {
    const next = draws(seed++);
    order = order.map(n => [next(), n]).sort((a, b) => a[0] - b[0]).map(([, n]) => n);
  };
  return played(draw, ['Shuffle', shuffle], ['With or without positions', () => labelled = !labelled]);
}

function scene_doors() {
  const doors = [
    ['x + p(i)', 'added to the embedding', 'sin/cos, learned vectors'],
    ['q · R(j−i) k', 'queries and keys rotated', 'RoPE, YaRN, ReRoPE'],
    ['q · k + b(j−i)', 'added to the logit', 'ALiBi, T5, relative'],
    ['weights(s, j−i)', 'in place of softmax', 'geometric, stick-breaking']
  ];
  const item = ([formula, words, who], n) => element(
      'li', {}, element('b', {class: `door c${n}`}, `Door ${n + 1}`), element('span', {class: 'formula'}, formula),
      element('span', {}, words), element('small', {}, who));
  return [element('ol', {class: 'doors'}, doors.map(item))];
}

function lane_chart(app, pick, at) {
  const edge = app.recorded_state().train_length;
  const lanes = recorded_lanes(app.snapshots).filter(pick);
  const shown = element('output', {for: 'scene-length'}, String(at));
  const said = live();
  const by_length = slider(at, 1, 5 * edge, () => again(), {id: 'scene-length', 'aria-label': 'Length'});
  const {holder, again} = filling((holder, {width, height}) => {
    const length = Number(by_length.value);
    shown.textContent = length;
    // Draws only the majority baseline, and only once.
    const plain = baseline_curves({majority: lanes[0].baselines.majority});
    const curves = plain.concat(lanes.flatMap(
        lane => curves_of({...lane, baselines: {}, name: lane.name, curve: lane.curve}, Math.max(edge, length))));
    draw_chart(holder, {
      width, height, x: [0, 5 * edge], y: [0, 1], percent: true, x_label: 'length', y_label: '% of digits right',
      shaded: edge, at: length, large: true, curves
    }, lanes.map(lane => `${lane.name} ${percent(lane.at(length))}`).join(', '));
    const frequent = percent(lanes[0].at(length, lanes[0].baselines.majority));
    said.replaceChildren(
        ...lanes.map(lane => element('span', {}, legend_of(lane), percent(lane.at(length)))),
        element('span', {class: 'quiet'}, `┄ the most frequent digit of each place ${frequent}`));
  });
  return [holder, block('drag-line', element('span', {}, 'Length'), by_length, shown), said];
}

// The positions of the tokens of several strings: for each string its name, and a bar for each token.
function scene_randomized() {
  const width = 640;
  let seed = 1;
  const draw = holder => {
    /** @type {[string, number[]][]} */
    const rows = [
      ['20 tokens, counted', Array.from({length: 20}, (_, i) => i)],
      ['20 tokens at random', random_positions(20, 100, seed)],
      ['the next 20, at random again', random_positions(20, 100, seed + 1)],
      ['a longer string: 50 tokens', random_positions(50, 100, seed + 2)]
    ];
    const shapes = rows.map(([name, list], n) => {
      const y = 34 + 98 * n, colour = `var(--c${n ? 3 : 0})`;
      const bar = p => `<rect x="${6.4 * p}" y="${y + 10}" width="5" height="40" style="fill:${colour}"/>`;
      const called = `<text x="0" y="${y}" style="fill:var(--ink);font-size:${is_narrow() ? 36 : 26}px">${name}</text>`;
      return called + list.map(bar).join('') +
          `<path d="M0 ${y + 52}H${width}" style="stroke:var(--faint)"/>`;
    });
    draw_svg(
        holder, shapes.join(''), width, H, rows.map(([name, list]) => `${name}: ${list.join(' ')}`).join('; '),
        'xMinYMid');
  };
  return played(draw, ['Draw again', () => seed += 3]);
}

function scene_gap(app) {
  const {gaps} = app.snapshots, edge = app.recorded_state().train_length;
  const said = `Accuracy at length ${edge} by the distance between neighbours: ` +
      gaps.map(([gap, a]) => `${gap}: ${percent(a)}`).join(', ');
  const {holder} = filling((holder, size) => draw_chart(holder, {
    ...size, x: [0, gaps.at(-1)[0]], y: [0, 1], percent: true, x_label: 'distance between neighbours',
    y_label: '% right', large: true,
    curves: [{name: 'rope, randomized', colour: 'var(--c3)', mark: 'diamond', points: gaps}]
  }, said));
  const best = gaps.reduce((a, b) => b[1] > a[1] ? b : a);
  const apart = ([gap, a]) => `${percent(a)} right with neighbours ${gap} apart`;
  const words = `rope, randomized, tested on the same strings of ${edge} digits: ${apart(gaps[0])}, ${apart(best)}.`;
  return [element('p', {class: 'verdict'}, words), holder];
}

function scene_dispersion(app) {
  const {dispersion} = app.snapshots, edge = app.recorded_state().train_length;
  const curves =
      dispersion.map(({name, rows}, n) => ({name: n ? name : `rope, randomized, ${name}`, rows, colour: [3, 0, 1][n]}));
  const chart = measure => figure(
      MEASURES[measure],
      filling((holder, size) => dispersion_chart(holder, measure, curves, edge, {...size, large: true})).holder);
  return [
    block('two', chart('largest'), chart('entropy')),
    element('p', {class: 'verdict'}, dispersion_legend(curves)),
    element(
        'p', {class: 'verdict'},
        `Sharper is not better here: at length ${3 * edge}, ${percent(dispersion[0].accuracy)} of the digits are ` +
            `right as trained, ${percent(dispersion[1].accuracy)} with the temperature.`)
  ];
}

const plain = lane => lane.spec.positions === 'sequential';
export const SCENES = [
  {
    title: 'What is a position?',
    line: 'Attention reads a bag of tokens. Their order has to be written on them.',
    draw: scene_positions,
    notes: 'Shuffle a few times: the bag below stays the same, so no encoder can tell the strings apart. Then write ' +
        'positions on them, the second number of each pair: now the bag changes with the order. Ask: what would you ' +
        'write on a token? And GPT? A causal mask shows each token only what came before it, from which a decoder ' +
        'without positions can learn the order (NoPE).',
    step: '09_absolute'
  },
  {
    title: 'Four doors',
    line: 'Positions enter a transformer in one of four places.',
    draw: scene_doors,
    notes: 'Door 1 changes what a token is. Door 2 rotates queries and keys, so that only differences of positions ' +
        'are left in their product. Door 3 adds to the logit, often a penalty for distance. Door 4 replaces the ' +
        'softmax: keys are asked from near to far, and the first that fits takes most. Every scheme of the program ' +
        'says its doors.',
    step: '10_rope'
  },
  {
    title: 'The edge',
    line: 'Three models that sort strings of up to 20 digits. Drag the length past 20.',
    draw: app => lane_chart(app, plain, 20),
    notes: 'Stop at 20 and take bets. A string of 20 with 20 slots for its answer has positions 0 to 39, so 40 is ' +
        'new at length 21. Learned vectors break at once: those from 40 on are as they were drawn at the start, ' +
        'and nothing tells the model what they mean; it may even do worse than guessing. RoPE and ALiBi fall more ' +
        'slowly: their first new distances are near known ones. ALiBi was made for language, where nearby words ' +
        'matter most; to sort, all must be seen. The dashed line needs no understanding: these models end below it.',
    step: '11_relative'
  },
  {
    title: 'Randomized positions',
    line: 'Give short strings the positions of long ones.',
    draw: app => [block('two', element('div', {}, scene_randomized()),
                        element('div', {}, lane_chart(app, lane => lane.spec.encoding === 'rope', 60)))],
    notes: 'Twenty tokens draw twenty numbers from a large pool, in rising order (in the model, 40 slots draw 40 of ' +
        '400). So no position of a longer string is new. Ruoss et al. 2023. The scheme and the number of weights are ' +
        'the same; only the numbers on the tokens differ. Accuracy counts digits, not whole strings.',
    step: '12_randomized'
  },
  {
    title: 'The gap',
    line: 'No position is new here, and no length. Spacing alone costs a fifth of the digits.',
    draw: scene_gap,
    notes: 'The model of the scene before, tested with positions at equal distances in place of random ones. ' +
        'Nothing is longer here than in training, and each of these gaps occurs there. But 40 slots drawn from ' +
        '400 positions are ten apart on average: a whole string of neighbours is new.',
    step: '13_windows'
  },
  {
    title: 'Dispersion',
    line: 'More keys share one whole: the largest weight sinks.',
    draw: scene_dispersion,
    notes: 'Even where every position is known, a longer row of attention is flatter. One temperature below 1 on ' +
        'all logits sharpens it; Chi, Fan, Rudnicky 2023 choose the one at which the largest weight is nearest to ' +
        'what it was. It helps where one key has to stand out, as in finding a line in a long text. To sort, many ' +
        'keys count, and dispersion is not what fails: this model is right at length 60 though its attention ' +
        'disperses. A row has a key for each digit and each slot of the answer, so at length 100 the entropy may ' +
        'reach log 200 = 5.3.',
    step: '05_attention'
  },
];

export function lecture_view(app) {
  const {state} = app, title = element('h1'), line = element('p', {class: 'lead'}), body = block('scene');
  const place = element('span', {class: 'place'}), told = element('p');
  const notes = element('details', {class: 'notes', 'aria-label': 'Speaker’s notes'},
                        element('summary', {}, 'Speaker’s notes'), told);
  const back = button('◀ Back', () => move(-1)), on = button('Next ▶', () => move(1), {class: 'main'});
  function show() {
    const scene = SCENES[state.scene - 1];
    title.textContent = scene.title;
    line.textContent = scene.line;
    body.replaceChildren(...scene.draw(app));
    told.textContent = `${scene.notes} (In poslab’s course: docs/course/${scene.step}.md.)`;
    place.textContent = `${state.scene} of ${SCENES.length}`;
    back.disabled = state.scene === 1;
    on.disabled = state.scene === SCENES.length;
    tell(`Scene ${state.scene}: ${scene.title}. ${scene.line}`);
  }
  function move(by) {
    const next = Math.min(SCENES.length, Math.max(1, state.scene + by));
    if (next === state.scene) return;
    state.scene = next;
    app.changed();
    show();
  }
  // A control keeps the arrow keys for itself. Page up and down, which remote controls send, always turn the scene.
  const keys = event => {
    const page = {PageDown: 1, PageUp: -1}[event.key], arrow = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey || arrow && event.target.closest('input')) return;
    const by = page ?? arrow;
    if (by) event.preventDefault(), move(by);
    if (event.key === 'n') notes.open = !notes.open;
  };
  document.addEventListener('keydown', keys);
  const keys_note = element('span', {class: 'note'}, 'Arrow and page keys move; n shows the notes.');
  const node = element('section', {class: 'view lecture'}, block('stage', title, line, body),
                       block('buttons foot', back, place, on, keys_note), notes);
  show();
  return {node, lanes: [], leave: () => document.removeEventListener('keydown', keys)};
}
