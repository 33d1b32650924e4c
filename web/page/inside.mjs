// Look inside: the answer to a user's string slot by slot, the attention of a head, and the effect of removing that
// head or changing positions.
import {element} from '../../lab/page/element.mjs';
import {button, field, number, say, slider, text_line} from './dom.mjs';
import {percent} from './figures.mjs';
import {Matrix} from './pairs.mjs';
import {model_picker} from './models.mjs';
import {task_words} from './take.mjs';

export function inside_view(app) {
  const {state, catalog} = app;
  let lane = null, answer = null, positions = null, late = 0;
  const silenced = new Set();
  const map = new Matrix('Attention of one head: each row looks at the columns (• is a slot of the answer)');
  const table = element('div', {class: 'scroll'});
  const verdict = element('p', {class: 'verdict', 'aria-live': 'polite'}), heads = element('div', {class: 'heads'});
  const line = text_line(state.string, text => {
    state.string = text;
    begin_anew();
    app.changed();
    ask();
  }, {maxlength: 200, size: 30});
  const where = text_line('', read_positions, {class: 'wide', placeholder: 'as the test draws them'});
  const stretch = slider(0, 0, 64, set_gap);
  const stretched = element('output', {}, 'as drawn');
  const token = number(1, 1, 400, () => {}), moved = number(0, 0, 100000, () => {});

  const layer = number(state.layer, 1, 8, value => (state.layer = value, app.changed(), draw_map()));
  const head = number(state.head, 1, 16, value => (state.head = value, app.changed(), draw_map()));

  // Sets the positions of tokens, and all controls that show them; null: those of the test.
  function carry(chosen, gap = 0) {
    positions = chosen;
    where.value = chosen?.join(' ') ?? '';
    stretch.value = gap;
    stretched.textContent = gap ? `every ${gap}` : chosen ? 'as listed below' : 'as drawn';
  }
  // Another model or string.
  function begin_anew() {
    answer = null;
    carry(null);
  }
  function nothing_to_move() {
    say(`“${line.value}” has no answer yet, so there are no positions to move. Ask a string that this model takes.`,
        {bad: true});
  }
  function read_positions(text) {
    const words = text.split(/[\s,]+/).filter(Boolean), numbers = words.map(Number);
    if (numbers.some(p => !Number.isFinite(p)))
      return say(
          `“${words[numbers.findIndex(p => !Number.isFinite(p))]}” is no position: give a number for each slot.`,
          {bad: true});
    carry(words.length ? numbers : null);
    ask();
  }
  function set_gap(gap) {
    if (gap && !answer) {
      carry(positions);
      return nothing_to_move();
    }
    carry(gap ? answer.positions.map((_, i) => i * gap) : null, gap);
    ask();
  }
  function move(token, position) {
    if (!positions && !answer) return nothing_to_move();
    const now = [...positions ?? answer.positions];
    now[token - 1] = position;
    carry(now);
    ask();
  }
  async function ask() {
    if (!lane) return;
    const mine = ++late;
    try {
      const got = await lane.engine.call(
          'ask', line.value,
          {positions: positions ?? [], silenced: [...silenced].map(one => one.split(' ').map(Number))});
      if (mine !== late) return;
      answer = got;
      for (const old of [table, map.node]) old.classList.remove('stale');
      draw();
      if (positions || silenced.size) say(verdict.textContent);  // scrolls to it if it is out of sight
    } catch (wrong) {
      if (mine !== late) return;
      verdict.textContent = wrong.message;
      for (const old of [table, map.node]) old.classList.add('stale');
      say(wrong.message, {bad: true});
    }
  }
  const silent_names = () => [...silenced].map(one => one.split(' ').map(n => Number(n) + 1).join('.')).join(', ');
  function draw() {
    const {slots, input, layers, heads: many} = answer, scored = slots.filter(slot => slot.scored);
    const right = scored.filter(slot => slot.answer === slot.target).length;
    verdict.textContent = `${right} of ${scored.length} right. ` +
        (positions ? `Tokens carry positions ${answer.positions.slice(0, 6).join(', ')}, … ` : '') +
        (silenced.size ? `Without ${silenced.size === 1 ? 'head' : 'heads'} ${silent_names()}.` : '');
    const rows = slots.slice(0, 60).map(
        (slot, n) => element(
            'tr', {class: slot.scored && slot.answer !== slot.target ? 'wrong' : ''},
            element('th', {scope: 'row'}, String(n + 1)), element('td', {}, String(slot.target)),
            element('td', {}, String(slot.answer), slot.scored && slot.answer !== slot.target ? ' ✗' : ''),
            ...slot.probabilities.map((p, symbol) => {
              const bar = element('span', {class: 'bar'});
              bar.style.setProperty('--share', p);
              return element('td', {class: symbol === slot.answer ? 'chosen' : ''}, bar, percent(p));
            })));
    table.replaceChildren(element(
        'table', {},
        element(
            'caption', {},
            `“${input.join(' ')}”, answered slot by slot` +
                (slots.length > 60 ? `; the first 60 of ${slots.length} slots` : '')),
        element(
            'thead', {},
            element(
                'tr', {},
                ['slot', 'right', 'said', ...(slots[0]?.probabilities ?? []).map((_, n) => `P(${n})`)].map(
                    words => element('th', {scope: 'col'}, words)))),
        element('tbody', {}, rows)));
    layer.max = layers;
    head.max = many;
    token.max = answer.time;
    const silencers = Array.from({length: layers * many}, (_, n) => {
      const l = Math.floor(n / many), h = n % many, key = `${l} ${h}`;
      const silence = () => {
        if (!silenced.delete(key)) silenced.add(key);
        ask();
      };
      return button(`${l + 1}.${h + 1}`, silence, {
        'aria-pressed': String(silenced.has(key)),
        'aria-label': `Silence layer ${l + 1} head ${h + 1}`
      });
    });
    heads.replaceChildren(element('span', {}, 'Silence a head (layer.head): '), ...silencers);
    draw_map();
  }
  function draw_map() {
    if (!answer) return;
    const T = answer.time, l = Math.min(state.layer, answer.layers) - 1, h = Math.min(state.head, answer.heads) - 1;
    const from = (l * answer.heads + h) * T * T, names = [
      ...answer.input.map((symbol, n) => `token ${n + 1}, ${symbol},`),
      ...answer.slots.map((_, n) => `slot ${n + 1} of the answer`)
    ];
    map.draw({
      size: T,
      values: answer.attention.subarray(from, from + T * T),
      title: `Layer ${l + 1}, head ${h + 1}`,
      least: 0,
      names: [...answer.input, ...answer.slots.map(() => '•')],
      words: (i, j, value) => `${names[i]} looks at ${names[j].replace(/,$/, '')}: ${percent(value)} of its weight`
    });
  }
  const picker = model_picker(app, chosen => {
    lane = chosen;
    begin_anew();
    silenced.clear();
    const task = catalog.tasks.find(t => t.name === lane.about.config.task.split(':')[0]);
    // A string of another task is discarded.
    if (app.asked_task && app.asked_task !== task?.name) state.string = '';
    app.asked_task = task?.name;
    line.value = state.string || (task?.example.input ?? '');
    longer.hidden = true;  // shown if a doubled string is one of the task
    if (task)
      chosen.engine.call('ask', task.example.input + task.example.input, {})
          .then(() => lane === chosen && (longer.hidden = false), () => {});
    form.textContent = task ? `${task_words(task)} Inputs are ${task.inputs}.` : '';
    panel.hidden = false;
    ask();
  });
  const form = element('p', {class: 'note'});
  const longer = button('Longer', () => {
    line.value = `${line.value}${line.value}`.slice(0, 100);
    line.dispatchEvent(new Event('change'));
  }, {'aria-label': 'Say the string twice'});
  const panel = element(
      'div', {hidden: true},
      element(
          'div', {class: 'settings row'}, field('your string', line), button('Ask', ask, {class: 'main'}),
          longer),
      form, verdict,
      element(
          'div', {class: 'two'}, element('div', {}, table),
          element(
              'div', {}, element('div', {class: 'settings row'}, field('layer', layer), field('head', head)), map.node,
              heads)),
      element('h2', {}, 'Where the tokens stand'),
      element(
          'p', {class: 'note'},
          'A model trained on random positions has hardly ever met a string of neighbours. Set every token 1 ' +
              'apart, and it may fail at a length that it was trained on: spacing alone breaks it.'),
      element(
          'div', {class: 'settings row'}, field('distance between neighbours', stretch), stretched,
          field('token', token), field('to position', moved),
          button('Move it', () => move(Number(token.value), Number(moved.value)))),
      field('positions, one for each slot of input and answer', where));
  const node = element(
      'section', {class: 'view inside'}, element('h1', {}, 'Look inside'),
      element('p', {class: 'lead'}, 'Ask a trained model about a string of your own, and see where its heads look.'),
      picker.node, panel);
  picker.begin();
  return {node, lanes: []};
}
