// Trains the lanes of the first screen with the engine under node, each on its own thread. Writes their results at some
// steps into web/page/snapshots.json, and the weights of two of them into weights.bin next to it. tools/web snapshots
// runs it, for three minutes on two idle cores.     usage: node web/snapshots.mjs ENGINE.wasm OUT.json
import {readFile, rename, writeFile} from 'node:fs/promises';
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';

import {Lab} from './lab.mjs';
import {to_halves} from './page/halves.mjs';
import {by_name, in_runs, strip_lengths} from './page/lane.mjs';
import {FIRST_LANES, first_state} from './page/link.mjs';
import {options_of} from './page/take.mjs';

const STRINGS = 64, TESTED_AT = [0, 100, 200, 400, 800, 1400, 2100, 2800, 3600];
// Without dropout, and with a learning rate that falls at the end; otherwise some lanes fail on their longest strings.
const state = {...first_state(), steps: TESTED_AT.at(-1)}, more = {dropout: '0', cooling: '0.4'};
const edge = state.train_length;
const lengths =
    [...new Set([
      1, 2, 3, 4, ...Array.from({length: 25}, (_, n) => 2 * n + 2), ...Array.from({length: 10}, (_, n) => 5 * n + 55)
    ])].filter(n => n <= 5 * edge)
        .sort((a, b) => a - b);
const round = x => Math.round(x * 1e4) / 1e4;

// The data of two scenes: accuracy at fixed distances between neighbours, and how attention disperses.
function closer(model) {
  const gaps = [1, 2, 3, 4, 5, 6, 8, 10].map(
      gap =>
          [gap, round(model.test({lengths: [edge], strings: STRINGS, positions: `stretched:gap=${gap}`})[0].accuracy)]);
  const far = 3 * edge, {temperature} = model.align(far),
        lengths = [.25, .5, .75, 1, 1.5, 2, 3, 4, 5].map(s => Math.round(s * edge));
  const rows = tau =>
      model.dispersion(lengths, tau).map(({length,
                                           largest,
                                           entropy}) => ({length, largest: round(largest), entropy: round(entropy)}));
  // Whether sharper attention also answers better is a separate question, answered by the accuracy at that length.
  const right = tau => round(model.test({lengths: [far], strings: STRINGS, temperature: tau})[0].accuracy);
  const dispersion = [
    {name: 'as trained', rows: rows(1), accuracy: right(1)}, {
      name: `temperature ${temperature}, aligned at length ${far}`,
      rows: rows(temperature),
      accuracy: right(temperature)
    }
  ];
  return {gaps, dispersion};
}

// The record of a lane for the page: {lane, closer, weights}; weights: only of lanes that one can look into
async function recorded({spec, engine}) {
  const lab = await Lab.start(await readFile(engine)), model = lab.train_new(options_of(state, spec));
  const log = [], tests = [];
  for (const until of TESTED_AT) {
    const steps = model.step(until - model.done), last = steps.at(-1);
    if (last) log.push([last.step, round(last.loss), round(last.accuracy), round(last.gradient_norm)]);
    tests.push(
        {step: until, curve: model.test({lengths, strings: STRINGS}).map(row => [row.length, round(row.accuracy)])});
  }
  const seen = in_runs(model.seen(strip_lengths(edge), state.steps)), baselines = by_name(model.baselines(lengths));
  for (const key of Object.keys(baselines))
    baselines[key] = baselines[key].map(([length, value]) => [length, round(value)]);
  return {
    lane: {spec, parameters: model.parameters, command: model.command(), log, tests, baselines, seen},
    closer: spec.positions === 'randomized' ? closer(model) : {},
    weights: spec.encoding === 'rope' ? to_halves(model.call('weights').numbers.subarray(0, model.parameters)) : null,
    version: lab.version
  };
}

async function all_of(engine, out) {
  const made = await Promise.all(FIRST_LANES.map(lane => new Promise((done, failed) => {
    new Worker(new URL(import.meta.url), {workerData: {spec: {...lane, more}, engine}})
        .on('message', done)
        .on('error', failed);
  })));
  let end = 0;  // the weights are stored one after the other
  for (const {lane, weights} of made) {
    console.log(lane.spec.encoding, lane.spec.positions,
                lane.tests.at(-1).curve.filter(([n]) => n % 20 === 0).join('  '));
    if (weights) lane.weights = {at: end, bytes: weights.length};
    end += weights?.length ?? 0;
  }
  const {steps, train_length, layers, heads, d_model, batch, lr, max_position, task} = state;
  const snapshots = {
    version: made[0].version,
    state: {steps, train_length, layers, heads, d_model, batch, lr, max_position, task},
    lanes: made.map(({lane}) => lane),
    ...Object.assign({}, ...made.map(m => m.closer))
  };
  const weights = Buffer.concat(made.flatMap(m => m.weights ?? []));
  for (const [file, data] of
           [[out, `${JSON.stringify(snapshots)}\n`], [out.replace(/\w+\.json$/, 'weights.bin'), weights]]) {
    await writeFile(`${file}.partial`, data);
    await rename(`${file}.partial`, file);
  }
}

if (isMainThread) await all_of(...process.argv.slice(2));
else parentPort.postMessage(await recorded(workerData));
