// Exports as text: CSV, BibTeX, and file names; dom.mjs saves them.

import {calibrated_bias, own_text} from './bias.mjs';
import {names_in} from './link.mjs';

function cell(value) {
  const text = typeof value === 'number' ? (Number.isFinite(value) ? String(value) : '') : String(value);
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
export const csv = (head, rows) => [head, ...rows].map(row => row.map(cell).join(',')).join('\n') + '\n';

// A row for each lane and length. lanes: [{task, encoding, ..., curve: [[length, accuracy], ...], step}]; baselines:
// [{task, name, points}]
export function curves_csv(lanes, baselines = []) {
  const rows = [];
  for (const lane of lanes)
    for (const [length, accuracy] of lane.curve)
      rows.push([lane.task, lane.encoding, lane.positions, lane.temperature, lane.seed, lane.step, length, accuracy]);
  for (const {task, name, points} of baselines)
    for (const [length, accuracy] of points) rows.push([task, name, '', '', '', '', length, accuracy]);
  return csv(['task', 'encoding', 'positions', 'temperature', 'seed', 'step', 'length', 'accuracy'], rows);
}

// The sources of the encodings, samplers and temperatures in the lanes.
export function sources_of({encodings, samplers, temperatures}, lanes) {
  const named = (list, spelled) => names_in(spelled).map(name => list.find(thing => thing.name === name)?.source);
  return lanes
      .flatMap(({encoding, positions, temperature}) => [
        ...named(encodings, encoding), ...named(samplers, positions), ...named(temperatures, temperature)
      ])
      .filter(Boolean);
}

// The authors and the year in "Su et al. 2021", even with words around it: {names, more, year}; or nothing.
const YEAR = String.raw`\s+(\d{4})(?![.\d])`, NAME = String.raw`\p{Lu}[\p{L}'-]*`;
const AND = String.raw`(?:,\s+|\s+&\s+|\s+and\s+)`, ONE = new RegExp(String.raw`(${NAME})\s+et al\.?${YEAR}`, 'u');
const SOME = new RegExp(`((?:${NAME}${AND})*${NAME})${YEAR}`, 'u');
const WHOLE = new RegExp(String.raw`^([\w-]+(?: ${NAME})?)${YEAR}`, 'u');  // bloc97, Moebius RoPE
function authors_of(words) {
  const one = words.match(ONE), [, names, year] = one ?? words.match(WHOLE) ?? words.match(SOME) ?? [];
  return names && {names: names.split(new RegExp(AND)), more: one ? ['others'] : [], year};
}
// An entry for poslab, and one for each source of the lanes' schemes. A source that lacks an author or a year becomes a
// line that BibTeX ignores.
export function bibtex(version, sources) {
  const entries =
      [`@software{poslab,\n  title = {poslab: a laboratory of positional encodings},\n` +
       `  version = {${version}},\n  note = {the page Past the edge, which trains in the browser}\n}`];
  // "Shaw et al. 2018; Huang et al. 2020", "bloc97 2023, Su 2023": two works
  const works = sources.flatMap(source => source.split(/;\s*|(?<=\d{4}),\s+(?=\p{Lu})/u)), made = new Map(), rest = [];
  for (const words of new Set(works)) {
    const found = authors_of(words);
    if (!found) {
      if (!/^(poslab|yours)/.test(words)) rest.push(`% cited by poslab without an author and a year: ${words}`);
      continue;
    }
    const {names, more, year} = found, stem = names[0].toLowerCase().replace(/[^\p{L}\d]/gu, '') + year;
    const all = names.map(name => name.includes(' ') ? `{${name}}` : name), author = [...all, ...more].join(' and ');
    const key = ['', 'b', 'c', 'd'].map(letter => stem + letter).find(k => (made.get(k)?.author ?? author) === author);
    const {cited} = made.get(key) ?? {cited: []};
    made.set(key, {author, year, cited: [...cited, words]});
  }
  for (const [key, {author, year, cited}] of made)
    entries.push(
        `@misc{${key},\n  author = {${author}},\n  year = {${year}},\n` +
        `  note = {as cited by poslab: ${cited.join('; ')}}\n}`);
  return [...entries, ...rest].join('\n\n') + '\n';
}

// A task in plain words: the program's summary, "the input backwards 1 0 0 -> 0 0 1", and its level.
export function task_words({summary, level}) {
  const [words, example] = summary.split(/\s{2,}/), [first] = words;
  const sentence = `${first.toUpperCase()}${words.slice(1)}${/[?.]$/.test(words) ? '' : '.'}`;
  return `${sentence} ${example ? `For example ${example.replace('->', '→')}. ` : ''}` +
      `In Chomsky’s hierarchy: ${level.replace('_', ' ')}.`;
}

export function file_name(words, ending) {
  const name = words.join('-').toLowerCase().replace(/[^a-z0-9.]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 80);
  return `${name || 'past-the-edge'}.${ending}`;
}

// Options that the page's state has, as numbers and as texts. max_position: how many positions random samplers draw
// from, and the number of rows of a learned table.
const NUMBERS = ['steps', 'layers', 'heads', 'd_model', 'batch', 'train_length'];
const TEXTS = ['task', 'lr', 'max_position'];
const made_of = (names, value_of) => Object.fromEntries(names.map(name => [name, value_of(name)]));
// The options of a model in the engine, from the state and one of its lanes.
export function options_of(state, {encoding, positions, temperature, seed, more}) {
  const own = own_text(encoding);
  return {
    ...made_of([...TEXTS, ...NUMBERS], name => String(state[name])), positions, temperature, seed: String(seed),
    encoding: own === null ? encoding : calibrated_bias(own, state), eval_lengths: '1:100', eval_samples: '32', ...more
  };
}
// Options without a field on the page. Those of a checkpoint or a run stay with its lane, as `more`; if a field in
// OF_FIELD changes, its options are dropped.
const OF_FIELD = {positions: ['first_position', 'resample']};
const UNSHOWN =
    [...Object.values(OF_FIELD).flat(), 'ffn_multiplier', 'loops', 'causal', 'dropout', 'clip', 'curriculum', 'warmup',
     'cooling', 'schedule', 'lr_floor', 'weight_decay'];
export function set_field(lane, field, value) {
  const gone = OF_FIELD[field] ?? [];
  lane[field] = value;
  if (lane.more) lane.more = Object.fromEntries(Object.entries(lane.more).filter(([name]) => !gone.includes(name)));
}
// A lane's `more` options that differ from the program's defaults, in words. options: the program's list
export const more_words = ({more = {}}, options) =>
    Object.entries(more)
        .filter(([name, value]) => options.find(o => o.name === name)?.default !== value)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ');
// The reverse: the lane and the page's state that a model's options describe.
export const lane_of = ({encoding, positions, temperature, seed, ...rest}) => ({
  encoding, positions, temperature, seed: Number(seed),
  more: made_of(UNSHOWN.filter(name => name in rest), name => rest[name])
});
export const state_of = config =>
    ({...made_of(TEXTS, name => config[name]), ...made_of(NUMBERS, name => Number(config[name]))});
