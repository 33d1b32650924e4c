// The state of the page as a link, and back: the part that is shown, lanes, settings of training and the questions of a
// part are in the fragment, and a link that is wrong in one place is right in all others. Experiments on a trained
// model (silenced heads, positions, a temperature) are not in it.
import {own_text} from './bias.mjs';
import {read_expression} from './expression.mjs';

// The settings of a link: name, parser, and default. Numbers have a range.
export const VIEWS = ['start', 'race', 'inside', 'dispersion', 'positions', 'own', 'lecture'];
const NUMBERS = {
  length: [1, 500, 20], steps: [1, 100000, 1200], layers: [1, 8, 2], heads: [1, 16, 4], d_model: [4, 256, 64],
  batch: [1, 256, 32], train_length: [1, 100, 20], scene: [1, 6, 1], layer: [1, 8, 1], head: [1, 16, 1],
  time: [2, 512, 64]
};
const TEXTS = ['task', 'string', 'matrix', 'beside', 'own', 'expression', 'guess', 'lr', 'max_position'];
const LONGEST_LINK = 8000, LONGEST_TEXT = 600, MOST_LANES = 4;

const first_lane = (encoding, positions) => ({encoding, positions, temperature: 'none', seed: 1});
export const FIRST_LANES = [
  first_lane('learned', 'sequential'), first_lane('rope', 'sequential'), first_lane('alibi', 'sequential'),
  first_lane('rope', 'randomized')
];

let of_runs = {};
// A page with runs of its own begins with these, and a link has the differences.
export function begin_with(settings) { of_runs = settings; }

export function first_state() {
  const state = {
    view: 'start', embed: false, lanes: FIRST_LANES.map(lane => ({...lane})), lr: '0.001', max_position: '400',
    task: 'bucket_sort', string: '', matrix: 'alibi', beside: '', own: 'bias', expression: '', guess: ''
  };
  for (const [name, [, , standard]] of Object.entries(NUMBERS)) state[name] = standard;
  return Object.assign(state, structuredClone(of_runs));
}

export function same_lanes(a, b) {
  return a.length === b.length && a.every((lane, n) => written_lane(lane) === written_lane(b[n]));
}

function written_lane(lane) {
  const words = [lane.encoding, lane.positions, lane.temperature, lane.seed];
  return words.map(encodeURIComponent).join('~');
}
// The field of the race and the link accept the same learning rates.
export const is_rate = text => /^\d*\.?\d+(e-?\d+)?$/i.test(text) && Number(text) > 0 && Number(text) <= 1;

// "#view=race&task=bucket_sort&lane=rope~randomized~none~1": the readable differences to the first state.
export const link_of = state => link_and_rest(state).link;
// {link, left_out: lanes without room in it}
export function link_and_rest(state) {
  const first = first_state(), parts = [];
  const view = state.embed ? 'embed' : 'view';
  if (state.embed || state.view !== first.view) parts.push(`${view}=${state.view}`);
  const allowed = name => !NUMBERS[name] || state[name] >= NUMBERS[name][0] && state[name] <= NUMBERS[name][1];
  for (const name of [...TEXTS, ...Object.keys(NUMBERS)])
    if (state[name] !== first[name] && allowed(name)) parts.push(`${name}=${encodeURIComponent(state[name])}`);
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

function read_lane(text, say) {
  const words = text.split('~').map(decoded);
  const [encoding, positions = 'sequential', temperature = 'none', seed = '1'] = words;
  if (!encoding || words.includes(null) || words.length > 4)
    return void say(
        `The link has a lane “${text.slice(0, 60)}” that cannot be read; it takes ` +
        'encoding~positions~temperature~seed, as in rope~randomized~none~1. That lane was left out.');
  if (!/^\d{1,15}$/.test(seed))
    return void say(
        `The link has a lane with the seed “${seed.slice(0, 30)}”; a seed is a whole number from 0. ` +
        'That lane was left out.');
  return {encoding, positions, temperature, seed: Number(seed)};
}

// Returns {state, problems}: problems are sentences, one for each ignored part of the link.
export function read_link(fragment) {
  const state = first_state(), problems = [], lanes = [], say = sentence => problems.push(sentence);
  let text = fragment.replace(/^#/, '');
  if (text.length > LONGEST_LINK) {
    say(`The link has ${text.length} characters, more than the ${
        LONGEST_LINK} that are read. The first page is shown.`);
    text = '';
  }
  for (const part of text.split('&').filter(Boolean)) {
    const cut = part.indexOf('='), raw = cut < 0 ? '' : part.slice(cut + 1);
    const name = decoded(cut < 0 ? part : part.slice(0, cut)) ?? part, value = decoded(raw);
    if (value === null)
      say(`The link’s “${name.slice(0, 30)}” has a broken character code. It was left out.`);
    else if (name === 'view' || name === 'embed') {
      if (VIEWS.includes(value))
        state.view = value, state.embed = name === 'embed';
      else
        say(`The link names a page “${value.slice(0, 30)}”; there are ${VIEWS.join(', ')}. ` +
            'The first page is shown.');
    } else if (name === 'lane') {
      const lane = read_lane(raw, say);
      if (lane && lanes.length === MOST_LANES)
        say(`The link has more than ${MOST_LANES} lanes. The first ones are shown.`);
      else if (lane)
        lanes.push(lane);
    } else if (Object.hasOwn(NUMBERS, name)) {
      const [least, most, standard] = NUMBERS[name], number = Number(value);
      if (/^\d+$/.test(value) && number >= least && number <= most)
        state[name] = number;
      else
        say(`The link has ${name} = “${value.slice(0, 30)}”; it takes a whole number from ${least} to ${most}. ` +
            `It is ${standard} now.`);
    } else if (TEXTS.includes(name)) {
      if (value.length <= LONGEST_TEXT)
        state[name] = value;
      else
        say(`The link’s ${name} has ${value.length} characters, more than ${LONGEST_TEXT}. It was left out.`);
    } else if (name)
      say(`The link sets “${name.slice(0, 30)}”, which this page does not know. It was left out.`);
  }
  if (!is_rate(state.lr)) {
    say(`The link has lr = “${
        state.lr.slice(0, 30)}”; a learning rate is a number above 0, at most 1. It is 0.001 now.`);
    state.lr = '0.001';
  }
  if (!/^\d{1,6}$/.test(state.max_position) || Number(state.max_position) < 1) {
    say(`The link has max_position = “${state.max_position.slice(0, 30)}”; it takes a whole number from 1 to ` +
        '999999. ' +
        'It is 400 now.');
    state.max_position = '400';
  }
  if (lanes.length) state.lanes = lanes;
  return {state, problems};
}

// The parts of the spelling "rope:base=100|none*2": ["rope", "none"].
export const names_in = spelled => spelled.split(/[|&+]/).map(part => part.split(':')[0].replace(/\*.*$/, '').trim());
// Whether every part of the spelling has a name in the list.
export const known_name = (list, spelled) => names_in(spelled).every(name => list.some(thing => thing.name === name));

// Names in a link that the engine's lists lack, as sentences; each is replaced by the first state's.
export function check_names(state, catalog) {
  const problems = [], first = first_state();
  const check = (what, list, holder, field, standard) => {
    if (known_name(list, holder[field])) return;
    problems.push(
        `The link has the ${what} “${holder[field].slice(0, 40)}”, which is not among the ${list.length} ` +
        `that there are. It is ${standard} now.`);
    holder[field] = standard;
  };
  check('task', catalog.tasks, state, 'task', first.task);
  for (const lane of state.lanes) {
    const own = own_text(lane.encoding);
    if (own === null) check('encoding', catalog.encodings, lane, 'encoding', 'rope');
    else
      try {
        read_expression(own);
      } catch (wrong) {
        problems.push(`The link has a bias of one’s own that cannot be read. ${wrong.message} It is rope now.`);
        lane.encoding = 'rope';
      }
    check('positions', catalog.samplers, lane, 'positions', 'sequential');
    check('temperature', catalog.temperatures, lane, 'temperature', 'none');
  }
  check('encoding', catalog.encodings, state, 'matrix', first.matrix);
  if (state.beside) check('encoding', catalog.encodings, state, 'beside', first.matrix);
  return problems;
}
