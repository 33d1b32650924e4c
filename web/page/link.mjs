// The state of the page as a link, and back. The fragment holds the part that is shown, the lanes, the settings of
// training and the questions of a part. An error in one part of a link leaves the others valid. Experiments on a
// trained model (silenced heads, positions, a temperature) are not in the link.
import {own_text} from './bias.mjs';
import {read_expression} from './expression.mjs';

export const VIEWS = ['start', 'race', 'inside', 'dispersion', 'positions', 'own', 'lecture'];
// The race's field and the link accept the same learning rates.
export const is_rate = text => /^\d*\.?\d+(e-?\d+)?$/i.test(text) && Number(text) > 0 && Number(text) <= 1;
const is_whole = (least, most) => text => /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most;
const whole = (least, most, standard) =>
    ({standard, takes: `a whole number from ${least} to ${most}`, fits: is_whole(least, most)});
const one_of = (...names) =>
    ({standard: names[0], takes: `one of ${names.join(', ')}`, fits: text => names.includes(text)});
// The settings of a link that accept only some texts. If a default is in quotes, the state keeps the setting as text.
const CHECKED = {
  lr: {standard: '0.001', takes: 'a number above 0, at most 1', fits: is_rate}, max_position: whole(1, 999999, '400'),
  length: whole(1, 500, 20), steps: whole(1, 100000, 1200), layers: whole(1, 8, 2), heads: whole(1, 16, 4),
  d_model: whole(4, 256, 64), batch: whole(1, 256, 32), train_length: whole(1, 100, 20), scene: whole(1, 6, 1),
  layer: whole(1, 8, 1), head: whole(1, 16, 1), time: whole(2, 512, 64), own: one_of('bias', 'positions', 'frequencies')
};
// the settings that accept any text
const TEXTS = {task: 'bucket_sort', string: '', matrix: 'alibi', beside: '', expression: '', guess: ''};
const LONGEST_LINK = 8000, LONGEST_TEXT = 600, MOST_LANES = 4;

export const plain_lane = (encoding, positions = 'sequential') => ({encoding, positions, temperature: 'none', seed: 1});
export const FIRST_LANES =
    [plain_lane('learned'), plain_lane('rope'), plain_lane('alibi'), plain_lane('rope', 'randomized')];

let of_runs = {};
// A page with runs of its own begins with these settings, and its links hold only the differences from them.
export function begin_with(settings) { of_runs = settings; }

export function first_state() {
  const checked = Object.fromEntries(Object.entries(CHECKED).map(([name, {standard}]) => [name, standard]));
  const lanes = FIRST_LANES.map(lane => ({...lane}));
  return {view: 'start', embed: false, lanes, ...TEXTS, ...checked, ...structuredClone(of_runs)};
}

export function same_lanes(a, b) {
  return a.length === b.length && a.every((lane, n) => written_lane(lane) === written_lane(b[n]));
}

function written_lane(lane) {
  const words = [lane.encoding, lane.positions, lane.temperature, lane.seed];
  return words.map(encodeURIComponent).join('~');
}
// "#view=race&task=bucket_sort&lane=rope~randomized~none~1": what differs from the first state, in readable form.
export const link_of = state => link_and_rest(state).link;
// {link, left_out: the lanes for which it has no room}
export function link_and_rest(state) {
  const first = first_state(), parts = [];
  if (state.embed || state.view !== first.view) parts.push(`${state.embed ? 'embed' : 'view'}=${state.view}`);
  for (const name of Object.keys({...TEXTS, ...CHECKED}))
    if (state[name] !== first[name] && (CHECKED[name]?.fits(state[name]) ?? true))
      parts.push(`${name}=${encodeURIComponent(state[name])}`);
  const left_out = [];
  if (!same_lanes(state.lanes, first.lanes))
    for (const lane of state.lanes) {
      const part = `lane=${written_lane(lane)}`;
      if ([...parts, part].join('&').length > LONGEST_LINK) left_out.push(lane);
      else parts.push(part);
    }
  return {link: parts.length ? `#${parts.join('&')}` : '#', left_out};
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;  // a lone % or invalid UTF-8
  }
}

const quoted = (text, most = 30) => `“${text.slice(0, most)}”`;
function read_lane(text, say) {
  const words = text.split('~').map(decoded);
  const [encoding, positions = 'sequential', temperature = 'none', seed = '1'] = words;
  if (!encoding || words.includes(null) || words.length > 4)
    say(`The link has a lane ${quoted(text, 60)} that cannot be read; it takes ` +
        'encoding~positions~temperature~seed, as in rope~randomized~none~1. That lane was left out.');
  else if (!/^\d{1,15}$/.test(seed))
    say(`The link has a lane with the seed ${quoted(seed)}; a seed is a whole number from 0. That lane was left out.`);
  else
    return {encoding, positions, temperature, seed: Number(seed)};
}

// Returns {state, problems}. problems: a sentence for each ignored part of the link.
export function read_link(fragment) {
  const state = first_state(), problems = [], lanes = [], say = sentence => problems.push(sentence);
  const text = fragment.replace(/^#/, ''), too_long = text.length > LONGEST_LINK;
  if (too_long)
    say(`The link has ${text.length} characters, more than the ${LONGEST_LINK} that are read. ` +
        'The first page is shown.');
  for (const part of too_long ? [] : text.split('&').filter(Boolean)) {
    const [, written, raw] = /^([^=]*)=?(.*)$/s.exec(part), name = decoded(written) ?? written, value = decoded(raw);
    if (value === null)
      say(`The link’s ${quoted(name)} has a broken character code. It was left out.`);
    else if (name === 'view' || name === 'embed') {
      if (VIEWS.includes(value))
        state.view = value, state.embed = name === 'embed';
      else
        say(`The link names a page ${quoted(value)}; there are ${VIEWS.join(', ')}. The first page is shown.`);
    } else if (name === 'lane') {
      const lane = read_lane(raw, say);
      if (lane && lanes.length === MOST_LANES)
        say(`The link has more than ${MOST_LANES} lanes. The first ones are shown.`);
      else if (lane)
        lanes.push(lane);
    } else if (Object.hasOwn(CHECKED, name)) {
      const {standard, takes, fits} = CHECKED[name];
      if (fits(value))
        state[name] = typeof standard === 'number' ? Number(value) : value;
      else
        say(`The link has ${name} = ${quoted(value)}; it takes ${takes}. It is ${standard} now.`);
    } else if (Object.hasOwn(TEXTS, name)) {
      if (value.length <= LONGEST_TEXT)
        state[name] = value;
      else
        say(`The link’s ${name} has ${value.length} characters, more than ${LONGEST_TEXT}. It was left out.`);
    } else if (name)
      say(`The link sets ${quoted(name)}, which this page does not know. It was left out.`);
  }
  if (lanes.length) state.lanes = lanes;
  return {state, problems};
}

// The parts of the spelling "rope:base=100|none*2": ["rope", "none"].
export const names_in = spelled => spelled.split(/[|&+]/).map(part => part.split(':')[0].replace(/\*.*$/, '').trim());
// Whether the name of every part of the spelling is in the list.
export const known_name = (list, spelled) => names_in(spelled).every(name => list.some(thing => thing.name === name));

// A sentence for each name in a link that the engine's lists lack; the first state's name replaces it.
export function check_names(state, catalog) {
  const problems = [], first = first_state();
  const check = (what, list, holder, field, standard) => {
    if (known_name(list, holder[field])) return;
    problems.push(`The link has the ${what} ${quoted(holder[field], 40)}, which is not among the ${list.length} ` +
        `that there are. It is ${standard} now.`);
    holder[field] = standard;
  };
  check('task', catalog.tasks, state, 'task', first.task);
  for (const lane of state.lanes) {
    const own = own_text(lane.encoding);
    if (own === null)
      check('encoding', catalog.encodings, lane, 'encoding', 'rope');
    else
      try {
        read_expression(own);
      } catch (wrong) {
        problems.push(`The link has a user’s bias that cannot be read. ${wrong.message} It is rope now.`);
        lane.encoding = 'rope';
      }
    check('positions', catalog.samplers, lane, 'positions', 'sequential');
    check('temperature', catalog.temperatures, lane, 'temperature', 'none');
  }
  check('encoding', catalog.encodings, state, 'matrix', first.matrix);
  if (state.beside) check('encoding', catalog.encodings, state, 'beside', first.matrix);
  return problems;
}
