// Lanes and their engines' Workers, without a browser: the Workers here answer from a table.    node --test lanes.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import {gzipSync} from 'node:zlib';

import {Lane} from '../../web/page/lane.mjs';
import {first_state, FIRST_LANES} from '../../web/page/link.mjs';

const STOPPED = 'The engine has stopped (memory access out of bounds): most likely no memory was left.';
const GOOD = {
  start: {value: '0.3.0'},
  train_new: {value: {parameters: 1, config: {}, command: '', done: 0}},
  fitting: {value: [5]},
  baselines: {value: [{length: 5, chance: .2, majority: .3, content_only: .3}]},
  run: {}
};
let answers, workers;  // a call that is not in the table is never answered
const alive = () => workers.filter(worker => !worker.ended).length;
// Waits until every call that has an answer has received it.
const settled = () => new Promise(done => setTimeout(done, 50));

const no_module = gzipSync(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)).toString('base64');
globalThis.navigator ??= {hardwareConcurrency: 2};
globalThis.location = {search: ''};
globalThis.addEventListener = () => {};
globalThis.document = {getElementById: id => id === 'wasm-relaxed' ? null : {textContent: no_module}};
globalThis.Worker = class {
  constructor() { workers.push(this); }
  terminate() { this.ended = true; }
  postMessage({id, call}) {
    const answer = answers[call];
    if (answer) setTimeout(() => this.ended || this.onmessage({data: {id, ...answer}}));
  }
};

// A lane; `said` has its messages to the views.
function new_lane(more = {}) {
  answers = {...GOOD, ...more};
  workers = [];
  const lane = new Lane({...FIRST_LANES[0]}, 0);
  lane.said = [];
  lane.changed = important => important && lane.said.push(`${lane.status}: ${lane.error}`);
  return lane;
}

test('a lane shows the error that stops its training', async () => {
  const lane = new_lane(), words = 'Memory for 9 numbers is not left; use a smaller batch or a shorter length.';
  await lane.train(first_state());
  workers[0].onmessage({data: {event: 'failed', error: words}});
  assert.deepEqual(lane.said, [`failed: ${words}`]);
});
test('a lane whose engine stops says why, and trains again in a new Worker', async () => {
  const lane = new_lane({train_new: {error: STOPPED}});
  await lane.train(first_state());
  assert.deepEqual(lane.said, [`failed: ${STOPPED}`]);
  assert.equal(alive(), 0);
  answers = GOOD;
  await lane.train(first_state());
  assert.equal(lane.status, 'training');
  assert.equal(alive(), 1);
});
test('calls that wait for an engine that stops do not replace its reason', async () => {
  const lane = new_lane();
  await lane.train(first_state());
  const pause = lane.pause().catch(wrong => lane.fail(wrong.message));  // never answered
  workers[0].onmessage({data: {event: 'failed', error: STOPPED}});
  await pause;
  assert.deepEqual(lane.said, [`failed: ${STOPPED}`]);
});
test('a lane that is ended has not failed', async () => {
  const trained = new_lane();
  await trained.train(first_state());
  trained.end();
  assert.deepEqual([trained.said, alive()], [[], 0]);
  const starting = new_lane({train_new: null}), training = starting.train(first_state());
  await settled();
  starting.end();
  await training;
  assert.deepEqual([starting.said, alive()], [[], 0]);
});
test('a lane has one Worker, however often it is told to train before the Worker is there', async () => {
  const lane = new_lane();
  await Promise.all([lane.train(first_state()), lane.train(first_state())]);
  assert.equal(workers.length, 1);
  assert.equal(lane.status, 'training');
  lane.end();
  assert.equal(alive(), 0);
});
test('a lane that is ended while its engine is unpacked leaves no Worker', async () => {
  const lane = new_lane(), training = lane.train(first_state());
  lane.end();
  await training;
  assert.deepEqual([lane.said, lane.engine, alive()], [[], null, 0]);
  const first = lane.train(first_state());
  lane.end();
  await Promise.all([first, lane.train(first_state())]);
  assert.deepEqual([lane.said, lane.status, alive()], [[], 'training', 1]);
});
test('a Worker that cannot be started is not kept, and the next training tries again', async () => {
  const lane = new_lane({start: {error: 'Memory is not left.'}});
  await lane.train(first_state());
  assert.deepEqual([lane.said, alive()], [['failed: Memory is not left.'], 0]);
  answers = GOOD;
  await lane.train(first_state());
  assert.deepEqual([lane.status, alive()], ['training', 1]);
});
test('messages of a model are dropped once another model is about to begin', async () => {
  const lane = new_lane(), steps = {event: 'steps', steps: [{step: 7, loss: 1}]};
  const tested = {event: 'tested', step: 7, curve: [[5, .9]]};
  await lane.train(first_state());
  workers[0].onmessage({data: steps});
  workers[0].onmessage({data: tested});
  const again = lane.train(first_state());
  for (const data of [steps, tested, {event: 'done', step: 7}]) workers[0].onmessage({data});
  await again;
  assert.deepEqual([lane.log, lane.tests, lane.status], [[], [], 'training']);
  lane.end();
});
test('a lane that is told to train twice trains once, as told last', async () => {
  const lane = new_lane(), runs = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function(message) {
    if (message.call === 'run') runs.push(message.parts[0].until);
    post.call(this, message);
  };
  const first = lane.train({...first_state(), steps: 11});
  await Promise.all([first, lane.train({...first_state(), steps: 22}), lane.train({...first_state(), steps: 33})]);
  Worker.prototype.postMessage = post;
  assert.deepEqual([runs, lane.plan.until, lane.said], [[33], 33, []]);
  lane.end();
});
test('a lane that is paused while it starts does not train', async () => {
  const lane = new_lane({run: null}), training = lane.train(first_state());  // `run` would never be answered
  await lane.pause();
  await training;
  assert.deepEqual([lane.status, lane.has_model()], ['paused', true]);
  answers = GOOD;
  await lane.resume();
  assert.equal(lane.status, 'training');
  lane.end();
});
test('an error leaves the chosen name', async () => {
  const lane = new_lane({train_new: {error: 'No.'}});
  lane.spec.encoding = 't5:buckets=1';
  await lane.train(first_state());
  assert.deepEqual(lane.said, ['failed: No.']);
  lane.spec.encoding = 'rope';
  assert.deepEqual([lane.name, lane.set_anew], ['rope', false]);
  lane.end();
});
