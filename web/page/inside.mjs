// Look inside: the answer to a user's string slot by slot, the attention of a head, and what changes without that head
// or with other positions.
import {element} from '../../lab/page/element.mjs';
import {block, button, field, live, note, number, row, say, set_stale, slider, table_of, text_line,
        view_of} from './dom.mjs';
import {percent} from './figures.mjs';
import {Matrix} from './pairs.mjs';
import {model_picker} from './models.mjs';
import {task_words} from './take.mjs';

export function inside_view(app) {
  const {state, catalog} = app;
  let lane = null, answer = null, positions = null, late = 0;
  const silenced = new Set();  // "layer.head", both from 1
  const map = new Matrix('Attention of one head: each row looks at the columns (• is a slot of the answer)');
  const table = block('scroll'), heads = block('heads'), verdict = live(), form = note();
  const line = text_line(state.string, text => {
    state.string = text;
    begin_anew();
    app.changed();
    ask();
  }, {maxlength: 200, size: 30});
  const where = text_line('', read_positions, {class: 'wide', placeholder: 'as the test draws them'});
  const stretch = slider(0, 0, 64, set_gap), stretched = element('output', {}, 'as drawn');
  const token = number(1, 1, 400), moved = number(0, 0, 100000);
  const pick = (key, high) => number(state[key], 1, high, value => (state[key] = value, app.changed(), draw_map()));
  const layer = pick('layer', 8), head = pick('head', 16);

  // Sets the positions of the tokens, and all controls that show them. null: the positions of the test.
  function carry(chosen, gap = 0) {
    positions = chosen;
    where.value = chosen?.join(' ') ?? '';
    stretch.value = gap;
    stretched.textContent = gap ? `every ${gap}` : chosen ? 'as listed below' : 'as drawn';
  }
  // Starts over with another model or string.
  function begin_anew() {
    answer = null;
    carry(null);
  }
  function nothing_to_move() {
    say(`“${line.value}” has no answer yet, so there are no positions to move. Ask about one that this model accepts.`,
        {bad: true});
  }
  function read_positions(text) {
    const words = text.split(/[\s,]+/).filter(Boolean), numbers = words.map(Number);
    const bad = words.find(word => !Number.isFinite(Number(word)));
    if (bad) return say(`“${bad}” is not a position: give a number for each slot.`, {bad: true});
    carry(words.length ? numbers : null);
    ask();
  }
  function set_gap(gap) {
    if (gap && !answer) return carry(positions), nothing_to_move();
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
      const plan = {positions: positions ?? [], silenced: [...silenced].map(one => one.split('.').map(n => n - 1))};
      const got = await lane.engine.call('ask', line.value, plan);
      if (mine !== late) return;
      answer = got;
      set_stale(false, table, map.node);
      draw();
      if (positions || silenced.size) say(verdict.textContent);  // scrolls to it if it is out of sight
    } catch (wrong) {
      if (mine !== late) return;
      verdict.textContent = wrong.message;
      set_stale(true, table, map.node);
      say(wrong.message, {bad: true});
    }
  }
  const is_wrong = slot => slot.scored && slot.answer !== slot.target;
  const row_of = (slot, n) => element(
      'tr', {class: is_wrong(slot) ? 'wrong' : ''}, element('th', {scope: 'row'}, String(n + 1)),
      element('td', {}, String(slot.target)), element('td', {}, String(slot.answer), is_wrong(slot) ? ' ✗' : ''),
      slot.probabilities.map((p, symbol) => element(
          'td', {class: symbol === slot.answer ? 'chosen' : ''},
          element('span', {class: 'bar', style: `--share: ${p}`}), percent(p))));
  function draw() {
    const {slots, input, layers, heads: many} = answer, scored = slots.filter(slot => slot.scored);
    verdict.textContent = `${scored.length - scored.filter(is_wrong).length} of ${scored.length} right. ` +
        (positions ? `Tokens carry positions ${answer.positions.slice(0, 6).join(', ')}, … ` : '') +
        (silenced.size ? `Without ${silenced.size === 1 ? 'head' : 'heads'} ${[...silenced].join(', ')}.` : '');
    table.replaceChildren(table_of(
        `“${input.join(' ')}”, answered slot by slot` +
            (slots.length > 60 ? `; the first 60 of ${slots.length} slots` : ''),
        slots.slice(0, 60).map(row_of),
        ['slot', 'right', 'said', ...(slots[0]?.probabilities ?? []).map((_, n) => `P(${n})`)]));
    layer.max = layers;
    head.max = many;
    token.max = answer.time;
    const silencers = Array.from({length: layers * many}, (_, n) => {
      const l = Math.floor(n / many) + 1, h = n % many + 1, key = `${l}.${h}`;
      const silence = () => {
        if (!silenced.delete(key)) silenced.add(key);
        ask();
      };
      return button(
          key, silence,
          {'aria-pressed': String(silenced.has(key)), 'aria-label': `Silence layer ${l} head ${h}`});
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
      size: T, values: answer.attention.subarray(from, from + T * T), title: `Layer ${l + 1}, head ${h + 1}`, least: 0,
      names: [...answer.input, ...answer.slots.map(() => '•')],
      words: (i, j, value) => `${names[i]} looks at ${names[j].replace(/,$/, '')}: ${percent(value)} of its weight`
    });
  }
  const picker = model_picker(app, chosen => {
    lane = chosen;
    begin_anew();
    silenced.clear();
    const task = catalog.tasks.find(t => t.name === lane.about.config.task.split(':')[0]);
    // A string that belongs to another task is discarded.
    if (app.asked_task && app.asked_task !== task?.name) state.string = '';
    app.asked_task = task?.name;
    line.value = state.string || (task?.example.input ?? '');
    longer.hidden = true;  // shown if the task accepts the string doubled
    if (task)
      chosen.engine.call('ask', task.example.input + task.example.input, {})
          .then(() => lane === chosen && (longer.hidden = false), () => {});
    form.textContent = task ? `${task_words(task)} Inputs are ${task.inputs}.` : '';
    panel.hidden = false;
    ask();
  });
  const longer = button('Longer', () => {
    line.value = `${line.value}${line.value}`.slice(0, 100);
    line.dispatchEvent(new Event('change'));
  }, {'aria-label': 'Say the string twice'});
  const panel = element(
      'div', {hidden: true}, row(field('your string', line), button('Ask', ask, {class: 'main'}), longer), form,
      verdict, block('two', element('div', {}, table),
                     element('div', {}, row(field('layer', layer), field('head', head)), map.node, heads)),
      element('h2', {}, 'Where the tokens stand'),
      note('A model trained on random positions has hardly ever seen all tokens at neighbouring positions. Set them ' +
          '1 apart, and it may fail at a length that it was trained on: spacing alone breaks it.'),
      row(field('distance between neighbours', stretch), stretched, field('token', token), field('to position', moved),
          button('Move it', () => move(Number(token.value), Number(moved.value)))),
      field('positions, one for each slot of input and answer', where));
  const node = view_of(
      'inside', 'Look inside', 'Ask a trained model about a string of your own, and see where its heads look.',
      picker, panel);
  return {node, lanes: []};
}
