// The race: a task, and up to four lanes, each with any of the program's schemes, trained at the same time.
import {own_text} from './bias.mjs';
import {Card, lanes_legend, legend_of, line_of} from './card.mjs';
import {element} from '../../lab/page/element.mjs';
import {block, button, choices, draw_chart, field, is_narrow, named_line, note, number, row, say, slider,
        text_line, view_of} from './dom.mjs';
import {short} from '../../lab/page/text.mjs';
import {Lane, tell_apart} from './lane.mjs';
import {take_home} from './home.mjs';
import {is_rate, known_name, plain_lane} from './link.mjs';
import {more_words, set_field, task_words} from './take.mjs';

const MOST = 4;

export function race_view(app) {
  const {state, catalog} = app;
  let lanes = app.race_lanes ??= state.lanes.map((spec, n) => new Lane(spec, n));
  let cards = [];
  const longest = () => 5 * state.train_length;
  const view = () => ({
    length: Math.min(state.length, longest()), limit: Infinity, edge: state.train_length, longest: longest(),
    task: state.task, drag: set_length, about
  });
  // The description of the encoding, and those of the model's other options that have no field.
  function about(lane) {
    const more = more_words(lane.shown, catalog.options);
    return app.summary(lane.shown) + (more ? `; with ${more}, as its checkpoint` : '');
  }
  // The fields of a lane, with the names that the program has for each.
  const fields = {encoding: catalog.encodings, positions: catalog.samplers, temperature: catalog.temperatures};
  const by_length = slider(state.length, 1, longest(), set_length);
  const shown = element('output');
  const picture = block('picture'), task_about = note(), holder = block('lanes'), replay = slider(0, 0, 0, look_back);
  const legend = note(), legend_of_strips = element('div');
  let measure = 'accuracy', due = false;

  function set_length(length) {
    state.length = by_length.value = shown.textContent = length;
    changed();
  }
  function changed() {
    for (const card of cards) card.draw();
    app.changed();
  }
  // Shows the n-th tests of all lanes; at the end of the slider all lanes show their present state.
  function look_back(n) {
    for (const lane of lanes) lane.replayed = n >= Number(replay.max) ? null : Math.min(n, lane.tests.length - 1);
    for (const card of cards) card.draw();
  }
  // The measurements of each step are drawn four times a second, the cards once a frame.
  function draw_all() {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      const most = Math.max(0, ...lanes.map(lane => lane.tests.length - 1)), at_end = replay.value === replay.max;
      replay.max = most;
      if (at_end) replay.value = most;
      draw_measure();
    }, 250);
  }
  function draw_measure() {
    const last = Math.max(1, ...lanes.map(lane => lane.log.at(-1)?.step ?? 1)), share = measure === 'accuracy';
    const curves = lanes.map(lane => line_of(lane, smoothed(lane.log, measure)));
    const values = curves.flatMap(curve => curve.points.map(([, y]) => y)).filter(Number.isFinite);
    const low = Math.min(...values), high = Math.max(...values);
    const width = is_narrow() ? 400 : 900, height = 220;
    const chart = {
      width, height, x: [0, last], y: share ? [0, 1] : [Math.max(low, 1e-6) / 1.2, high * 1.2], percent: share,
      log_y: !share, x_label: 'step', y_label: {accuracy: '% right', loss: 'loss'}[measure] ?? 'norm',
      curves: curves.filter(curve => curve.points.length)
    };
    picture.hidden = !values.length;
    if (values.length)
      draw_chart(picture, chart, `${measure.replace('_', ' ')} by step: ` +
          lanes.map(lane => `${lane.name} ${short(lane.last[measure])}`).join(', '));
    legend.replaceChildren(
        ...values.length ? lanes.map(legend_of) : ['Press Train all, and this is drawn step by step.']);
  }
  // Below a lane's fields: the descriptions of the chosen names, and their options from the program's list.
  function help_with(lane) {
    const rows = Object.entries(fields).flatMap(([field_name, list]) => {
      const thing = list.find(({name}) => name === lane.spec[field_name].split(/[:|&+*]/)[0]);
      // The page itself sets max_position, the size of the pool of positions.
      const standard = o => o.name === 'max_position' ? state.max_position : o.default;
      if (!thing) return [];
      const options = thing.options.map(o => [`${thing.name}:${o.name}=${standard(o)}`, o.about]);
      return [[thing.name, thing.summary], ...options];
    });
    const many = `What these names mean, and their options (${rows.length})`;
    lane.help.replaceChildren(element('summary', {}, many), element('dl', {}, rows.map(
        ([spelling, about]) => [element('dt', {class: 'formula'}, spelling), element('dd', {}, about)])));
    lane.help.hidden = !rows.length;
  }
  function rebuild() {
    const named = (lane, what) => {
      const list = fields[what];
      return field(what, named_line(what, list, lane.spec[what], (text, input) => {
        const value = text || lane.spec[what];
        if (known_name(list, value) || own_text(value) !== null) {
          set_field(lane.spec, what, value);
          set(lane);
          return help_with(lane);
        }
        say(`“${value}” is not among the ${list.length} names for ${what}; the field lists them. It is ` +
            `${lane.spec[what]} again.`, {bad: true});
        input.value = lane.spec[what];
      }));
    };
    // The settings have changed: clears an old error.
    const set = lane => {
      if (lane.status === 'failed') lane.status = lane.tests.length ? 'paused' : 'ready';
      lane.changed();
      app.changed();
    };
    cards = lanes.map(lane => {
      const settings = element(
          'div', {class: 'settings'}, Object.keys(fields).map(what => named(lane, what)),
          field('seed', number(lane.spec.seed, 0, 999999999, value => (lane.spec.seed = value, set(lane)))),
          lane.help = element('details', {class: 'help', 'aria-label': 'Options'}));
      help_with(lane);
      const take_out = button('Remove', () => {
        lane.end();
        lanes.splice(lanes.indexOf(lane), 1);
        keep();
        rebuild();
        say(`${lane.name} is out of the race.`);
      }, {'aria-label': `Remove lane ${lane.number + 1}`, disabled: lanes.length === 1});
      const card = new Card(lane, view, settings, [
        button('Train', () => lane.train(state, {compare: true})), button('Pause', () => act(lane, 'pause')),
        button('Step', () => act(lane, 'step')), button('Run on', () => act(lane, 'run_on', state.steps)), take_out
      ]);
      const drawn = lane.changed;
      lane.changed = important => {
        for (const other of tell_apart(lanes)) cards[lanes.indexOf(other)]?.draw();
        drawn(important);
        draw_all();
      };
      return card;
    });
    tell_apart(lanes);
    holder.replaceChildren(...cards.map(card => card.node));
    add.disabled = lanes.length === MOST;
    draw_all();
  }
  // A starting lane can be paused before its model is ready.
  const can = (lane, what) => lane.has_model() || what === 'pause' && lane.status === 'starting';
  async function act(lane, what, ...parts) {
    if (!can(lane, what)) return say('This lane has no model yet: press Train first.');
    try {
      await lane[what](...parts);
    } catch (wrong) {
      lane.fail(wrong.message);
    }
  }
  function keep() {
    app.race_lanes = lanes;
    state.lanes = lanes.map(lane => lane.spec);
    app.changed();
  }
  const add = button('Add a lane', () => {
    const used = new Set(lanes.map(lane => lane.number)), free = [0, 1, 2, 3].find(n => !used.has(n));
    lanes.push(new Lane({...plain_lane('rope'), ...lanes.at(-1)?.spec}, free));
    keep();
    rebuild();
  });
  const size = (words, name, low, high) => field(words, number(state[name], low, high, value => {
    state[name] = value;
    by_length.max = longest();
    legend_of_strips.replaceChildren(lanes_legend(state.train_length));
    changed();
  }));
  const lr = text_line(state.lr, text => {
    if (is_rate(text)) state.lr = text;
    else say(`“${text}” is not a learning rate: give a number above 0, at most 1, such as 0.001 or 1e-3.`);
    lr.value = state.lr;
    app.changed();
  }, {inputmode: 'decimal'});
  const about_task = () => {
    const task = catalog.tasks.find(t => t.name === state.task.split(':')[0]);
    task_about.textContent = task ? task_words(task) : '';
  };
  const names = catalog.tasks.map(({name}) => name);
  if (!names.includes(state.task)) names.push(state.task);  // it has options: duplicate_string:copies=3
  const task = choices(names.map(name => ({name, words: name.replaceAll('_', ' ')})), state.task, value => {
    state.task = value;
    about_task();
    changed();
  });
  about_task();
  const every = what => Promise.all(lanes.filter(lane => can(lane, what)).map(lane => act(lane, what)));
  const measures = [
    {name: 'accuracy', words: 'accuracy in training'}, {name: 'loss'},
    {name: 'gradient_norm', words: 'norm of the gradient'}
  ];
  const node = view_of(
      'race', 'Race', 'Train up to four models at once on the same task. Every encoding, sampler ' +
          'and temperature of the program can run, and so can compositions such as rope|none.',
      row(field('task', task), size('trained to length', 'train_length', 2, 60), size('steps', 'steps', 1, 100000),
          size('layers', 'layers', 1, 8), size('heads', 'heads', 1, 16), size('width', 'd_model', 4, 256),
          size('strings a step', 'batch', 1, 256), field('learning rate', lr)),
      task_about,
      block(
          'buttons', button('Train all', () => lanes.forEach(lane => lane.train(state)), {class: 'main'}),
          button('Pause all', () => every('pause')), button('Go on', () => every('resume')), add),
      block('drag-line', field('Tested at length', by_length), shown), holder, legend_of_strips,
      element('h2', {}, 'While they train'),
      note('Each step has strings of one length, drawn at random: short ones are easy, so the curves jump.'),
      row(field('show', choices(measures, measure, value => (measure = value, draw_measure()))),
          field('replay the tests', replay, 'drag back to see the curves of earlier steps')),
      picture, legend, take_home(app, () => lanes));
  legend_of_strips.replaceChildren(lanes_legend(state.train_length));
  rebuild();
  set_length(Math.min(state.length, longest()));
  return {node, lanes};
}

// At most 300 points [step, value], each the mean of neighbouring steps.
export function smoothed(log, measure) {
  const size = Math.ceil(log.length / 300), made = [];
  for (let n = 0; n < log.length; n += size) {
    const some = log.slice(n, n + size);
    made.push([some.at(-1).step, some.reduce((sum, row) => sum + row[measure], 0) / some.length]);
  }
  return made;
}
