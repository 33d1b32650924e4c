// Trains the lanes of the first screen with the engine under node, and writes what they have learned at some steps into
// web/page/snapshots.json, and the weights of two of them into weights.bin beside it: ./dev web snapshots, three
// minutes.     usage: node web/snapshots.mjs ENGINE.wasm OUT.json
import {readFile, rename, writeFile} from 'node:fs/promises';

import {Lab} from './lab.mjs';
import {by_name, in_runs, strip_lengths} from './page/lane.mjs';
import {FIRST_LANES, first_state} from './page/link.mjs';
import {to_halves} from './page/halves.mjs';
import {options_of} from './page/take.mjs';

const STRINGS = 64, TESTED_AT = [0, 100, 200, 400, 600, 900, 1200, 1600, 2000];
const [engine, out] = process.argv.slice(2);
const lab = await Lab.start(await readFile(engine));
const state = {
  ...first_state(),
  steps: 2000
};
const edge = state.train_length;
const lengths =
    [...new Set([
      1, 2, 3, 4, ...Array.from({length: 25}, (_, n) => 2 * n + 2), ...Array.from({length: 10}, (_, n) => 5 * n + 55)
    ])].filter(n => n <= 5 * edge)
        .sort((a, b) => a - b);
const round = x => Math.round(x * 1e4) / 1e4;

// Two scenes of the lecture: the trained length at fixed distances between neighbours, and how attention disperses.
let gaps, dispersion;
function look_closer(model) {
  gaps = [1, 2, 3, 4, 5, 6, 8, 10].map(
      gap =>
          [gap, round(model.test({lengths: [edge], strings: STRINGS, positions: `stretched:gap=${gap}`})[0].accuracy)]);
  const far = 3 * edge, {temperature} = model.align(far),
        lengths = [.25, .5, .75, 1, 1.5, 2, 3, 4, 5].map(s => Math.round(s * edge));
  const rows = tau =>
      model.dispersion(lengths, tau).map(({length,
                                           largest,
                                           entropy}) => ({length, largest: round(largest), entropy: round(entropy)}));
  // Whether sharper attention also answers better is another question: the accuracy at that length.
  const right = tau => round(model.test({lengths: [far], strings: STRINGS, temperature: tau})[0].accuracy);
  dispersion = [
    {name: 'as trained', rows: rows(1), accuracy: right(1)}, {
      name: `temperature ${temperature}, aligned at length ${far}`,
      rows: rows(temperature),
      accuracy: right(temperature)
    }
  ];
}

// The weights of the lanes that one can look into, one after the other, for web/page/weights.bin.
const weights = [];
let weights_end = 0;
function keep(model) {
  const bytes = to_halves(model.call('weights').numbers.subarray(0, model.parameters)), at = weights_end;
  weights.push(bytes);
  weights_end += bytes.length;
  return {at, bytes: bytes.length};
}

function recorded(spec) {
  const model = lab.train_new(options_of(state, spec)), log = [], tests = [];
  for (const until of TESTED_AT) {
    const steps = model.step(until - model.done), last = steps.at(-1);
    if (last) log.push([last.step, round(last.loss), round(last.accuracy), round(last.gradient_norm)]);
    tests.push(
        {step: until, curve: model.test({lengths, strings: STRINGS}).map(row => [row.length, round(row.accuracy)])});
  }
  const seen = in_runs(model.seen(strip_lengths(edge), state.steps)), baselines = by_name(model.baselines(lengths));
  for (const key of Object.keys(baselines))
    baselines[key] = baselines[key].map(([length, value]) => [length, round(value)]);
  if (spec.positions === 'randomized') look_closer(model);
  const made = {spec, parameters: model.parameters, command: model.command(), log, tests, baselines, seen};
  if (spec.encoding === 'rope') made.weights = keep(model);
  model.free();
  console.log(spec.encoding, spec.positions, made.tests.at(-1).curve.filter(([n]) => n % 20 === 0).join('  '));
  return made;
}

const {steps, train_length, layers, heads, d_model, batch, lr, max_position, task} = state;
const lanes = FIRST_LANES.map(recorded);
const made = {
  version: lab.version,
  state: {steps, train_length, layers, heads, d_model, batch, lr, max_position, task},
  lanes,
  gaps,
  dispersion
};
const files = [[out, `${JSON.stringify(made)}\n`], [out.replace(/\w+\.json$/, 'weights.bin'), Buffer.concat(weights)]];
for (const [file, data] of files) {
  await writeFile(`${file}.partial`, data);
  await rename(`${file}.partial`, file);
}
