// What one takes home: CSV, BibTeX, and the names of files. Text alone; saving is in dom.mjs.

import {calibrated_bias, own_text} from './bias.mjs';
import {names_in} from './link.mjs';

function cell(value) {
  const text = typeof value === 'number' ? (Number.isFinite(value) ? String(value) : '') : String(value);
  return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
export const csv = (head, rows) => [head, ...rows].map(row => row.map(cell).join(',')).join('\n') + '\n';

// A row for each lane and length. lanes: [{name, config: {encoding, ...}, curve: [[length, accuracy], ...], step}]
export function curves_csv(task, lanes, baselines = []) {
  const rows = [];
  for (const lane of lanes)
    for (const [length, accuracy] of lane.curve)
      rows.push([task, lane.encoding, lane.positions, lane.temperature, lane.seed, lane.step, length, accuracy]);
  for (const {name, points} of baselines)
    for (const [length, accuracy] of points) rows.push([task, name, '', '', '', '', length, accuracy]);
  return csv(['task', 'encoding', 'positions', 'temperature', 'seed', 'step', 'length', 'accuracy'], rows);
}

// Whom the encodings that stand in lanes are from, and random positions.
export const sources_of = (encodings, lanes) =>
    lanes.flatMap(lane => names_in(lane.encoding).map(name => encodings.find(e => e.name === name)?.source))
        .concat('Ruoss et al. 2023')
        .filter(Boolean);

const KEY = /^(.*?)\s+(?:et al\.?\s+)?(\d{4})/;
// An entry for poslab, and one for each source "Su et al. 2021" of the schemes that stand in the lanes.
export function bibtex(version, sources) {
  const entries =
      [`@software{poslab,\n  title = {poslab: a laboratory of positional encodings},\n` +
       `  version = {${version}},\n  note = {the page Past the edge, which trains in the browser}\n}`];
  for (const source of new Set(sources)) {
    const found = source.match(KEY);
    if (!found) continue;
    const names = found[1].split(/,\s*|\s+&\s+|\s+and\s+/), key = names[0].toLowerCase().replace(/\W/g, '') + found[2];
    entries.push(
        `@misc{${key},\n  author = {${names.join(' and ')}${source.includes(' et al') ? ' and others' : ''}},\n` +
        `  year = {${found[2]}},\n  note = {as cited by poslab: ${source}}\n}`);
  }
  return entries.join('\n\n') + '\n';
}

// A task in plain words: what the program says of it, "the input backwards  1 0 0 -> 0 0 1", and its level.
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

// The options of a model in the engine, from the page's state and one of its lanes. max_position: positions that random
// samplers draw from, and rows of a learned table.
export function options_of(state, lane) {
  const own = own_text(lane.encoding);
  return {
    task: state.task,
    encoding: own === null ? lane.encoding : calibrated_bias(own, state),
    positions: lane.positions,
    temperature: lane.temperature,
    seed: String(lane.seed),
    layers: String(state.layers),
    heads: String(state.heads),
    d_model: String(state.d_model),
    batch: String(state.batch),
    lr: state.lr,
    train_length: String(state.train_length),
    steps: String(state.steps),
    max_position: state.max_position,
    eval_lengths: '1:100',
    eval_samples: '32',
    ...(lane.unsorted ? {unsorted: 'on'} : {})
  };
}
// The other way round: the lane and the page's state that a model's options are.
export const lane_of = config => ({
  encoding: config.encoding,
  positions: config.positions,
  temperature: config.temperature,
  seed: Number(config.seed),
  unsorted: config.unsorted === 'on'
});
export const state_of = ({task, steps, layers, heads, d_model, batch, lr, train_length, max_position}) => ({
  task,
  lr,
  max_position,
  steps: Number(steps),
  layers: Number(layers),
  heads: Number(heads),
  d_model: Number(d_model),
  batch: Number(batch),
  train_length: Number(train_length)
});
