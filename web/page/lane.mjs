// A lane: one model, its training, and its results so far. It draws nothing; views subscribe to changes.
import {CLOSED, Engine} from './engine.mjs';
import {runs_of} from './figures.mjs';
import {own_text} from './bias.mjs';
import {lane_of, options_of} from './take.mjs';

const lengths_at = (edge, shares) => [...new Set(shares.map(share => Math.max(1, Math.round(edge * share))))];
// Lengths of the small tests during training, for a model that trains to `edge`.
export const tested_lengths = edge => lengths_at(edge, [.05, .25, .5, .75, 1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]);
// Lengths at which strips are counted: closer together near the edge, where strips change most.
export const strip_lengths = edge => lengths_at(edge, [.25, .5, 1, 1.1, 1.25, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]);
// Lengths at which dispersion is measured.
export const dispersion_lengths = edge => lengths_at(edge, [.5, 1, 1.5, 2, 3, 4, 5]);
const plan_of = (until, lengths, every = 25) => ({until, every, lengths, strings: 24});

// The engine's counts as runs of values, which take a hundredth of the space.
export function in_runs(seen) {
  const made = {reads: seen.reads};
  for (const key of ['positions', 'distances', 'gaps']) {
    const {trained, tests} = seen[key];
    made[key] =
        trained ? {trained: runs_of(trained), tests: tests.map(test => ({...test, met: runs_of(test.met)}))} : null;
  }
  return made;
}
// The counts at the next counted length: {reads, positions: {length, trained, needed, share, low, high} or null, ...}.
// share: the part of that test's slots or pairs whose value occurred in training.
export function strips_at(seen, length) {
  const strips = {reads: seen.reads};
  for (const key of ['positions', 'distances', 'gaps']) {
    strips[key] = null;
    if (!seen[key]?.trained.length) continue;
    const {trained, tests} = seen[key], test = tests.find(t => t.length >= length) ?? tests.at(-1);
    const ends = [trained, ...tests.map(t => t.met)].filter(runs => runs.length);
    strips[key] = {
      length: test.length,
      trained,
      needed: test.met,
      share: test.seen ?? NaN,
      low: Math.min(...ends.map(runs => runs[0][0])),
      high: Math.max(...ends.map(runs => runs.at(-1)[1]))
    };
  }
  return strips;
}

// [{length, chance, majority, content_only}] as curves.
export function by_name(rows) {
  return Object.fromEntries(
      ['chance', 'majority', 'content_only'].map(name => [name, rows.map(row => [row.length, row[name] ?? NaN])]));
}

// The name of a scheme that lists a number for every distance or slot is cut off.
const brief = text => text.length > 60 ? `${text.slice(0, 59)}…` : text;
export function name_of({encoding, positions, temperature = 'none'}) {
  const called = [own_text(encoding) === null ? brief(encoding) : 'your own bias'];
  if (positions !== 'sequential') called.push(brief(positions));
  if (temperature !== 'none') called.push(brief(temperature));
  return called.join(', ');
}
// Adds seeds to the names of lanes that would have equal names. Returns the lanes whose name changed.
export function tell_apart(lanes) {
  const alike = (a, b) => a !== b && name_of(a.shown) === name_of(b.shown);
  return lanes.filter(lane => {
    const was = lane.twin;
    return was !== (lane.twin = lanes.some(other => alike(lane, other)));
  });
}

export class Lane {
  #times = [];      // [milliseconds, step] during the last seconds of training
  #opening = null;  // the promise of an engine
  #beginning = {};  // identifies the latest call of train

  baselines = {};
  status = 'ready';
  speed = 0;
  before = null;
  about = null;
  engine = null;
  twin = false;
  plan;
  made = null;      // the spec that made the model and the curves; `spec` may have changed since
  /** @type {(tested?: boolean) => void} */
  changed = () => {};

  constructor(spec, number) {
    this.spec = spec;
    this.number = number;
    this.#forget();
  }
  // Forgets all results of the lane's model.
  #forget() {
    this.run = null;       // a run that `poslab web` put into the page
    this.log = [];
    this.tests = [];
    this.counted = null;
    this.error = '';
    this.replayed = null;  // index into tests while an earlier test is shown
  }
  // A lane that was trained when the page was made: it has curves but no model.
  static recorded(spec, number, record) {
    const lane = new Lane(spec, number);
    const {tests, baselines, seen, parameters, command} = record;
    const log = record.log.map(([step, loss, accuracy, gradient_norm]) => ({step, loss, accuracy, gradient_norm}));
    return Object.assign(lane, {
      status: 'recorded', made: {...spec}, tests, log, baselines, counted: Promise.resolve(seen),
      about: {parameters, command}
    });
  }
  // A run that `poslab web` put into the page. It has curves at once, and its model once it is loaded.
  static of_run(run, number) {
    const lane = Lane.recorded(lane_of(run.config), number, {
      ...run,
      log: run.log.map(row => row.map(x => x ?? NaN)),  // null: training diverged
      tests: [{step: run.step, curve: run.curve}]
    });
    return Object.assign(lane, {run, counted: null, about: null});
  }
  async wake() {
    const {name, config, step, checkpoint} = this.run;
    try {
      const engine = await this.open(), bytes = atob(checkpoint.slice(checkpoint.indexOf(',') + 1));
      this.about = await engine.call('load', Uint8Array.from(bytes, c => c.charCodeAt(0)), `the run ${name}`);
      this.plan = plan_of(step, await engine.call('fitting', tested_lengths(Number(config.train_length))));
      this.changed();
    } catch (wrong) {
      this.fail(wrong.message);
    }
  }
  // The spec of the shown results, and whether the settings differ from it by now.
  get shown() { return this.made ?? this.spec; }
  get name() { return name_of(this.shown) + (this.twin ? `, seed ${this.shown.seed}` : ''); }
  // Of the model itself, whatever the current settings are: its options by name, its task, its trained length.
  get config() { return this.about?.config ?? this.run?.config; }
  edge(set) { return Number(this.config?.train_length ?? set); }
  get set_anew() {
    return Boolean(this.made) &&
        ['encoding', 'positions', 'temperature', 'seed'].some(key => String(this.made[key]) !== String(this.spec[key]));
  }
  get test() { return this.tests[this.replayed ?? this.tests.length - 1] ?? {step: 0, curve: []}; }
  get curve() { return this.test.curve; }
  // The mean loss of the last 25 steps: the strings of a single batch have one length, which may be short.
  get loss() {
    const some = this.log.slice(-25);
    return some.length ? some.reduce((sum, {loss}) => sum + loss, 0) / some.length : NaN;
  }
  get last() { return this.log.at(-1) ?? {step: 0, loss: NaN, accuracy: NaN, gradient_norm: NaN}; }
  tested_at(length) { return this.curve.some(([l]) => l === length); }
  // Accuracy at a length, interpolated between the tested lengths.
  at(length, curve = this.curve) {
    const after = curve.findIndex(([l]) => l >= length);
    if (after < 0) return NaN;
    const [l1, a1] = curve[after];
    if (l1 === length || after === 0) return l1 === length ? a1 : NaN;
    const [l0, a0] = curve[after - 1];
    return a0 + (a1 - a0) * (length - l0) / (l1 - l0);
  }

  // Trains a new model with the options of the state. If `compare` is set, the current curve stays as `before`.
  async train(state, {compare = false} = {}) {
    const mine = this.#beginning = {}, last_word = () => this.#beginning === mine;
    this.before = compare && this.curve.length ? {name: this.name, curve: this.curve} : null;
    this.#forget();
    Object.assign(this, {made: {...this.spec}, status: 'starting', about: null, speed: 0, plan: null});
    this.changed();
    try {
      const engine = await this.open();
      if (!last_word()) return;
      const about = await engine.call('train_new', options_of(state, this.spec));
      if (!last_word()) return;
      const {train_length, steps} = state, lengths = await engine.call('fitting', tested_lengths(train_length));
      const baselines = by_name(await engine.call('baselines', lengths));
      if (!last_word()) return;
      // Messages that the old model sends before its Worker learns of the new model do not count.
      Object.assign(this, {about, baselines, plan: plan_of(steps, lengths, Math.min(25, steps)), log: [], tests: []});
      if (this.status === 'starting') await this.resume();
      this.changed();
    } catch (wrong) {
      if (last_word()) this.fail(wrong.message);
    }
  }
  // The model of a recorded lane, from weights in half precision.
  async recall(state, weights, steps) {
    const engine = await this.open();
    this.about = await engine.call('recall', options_of(state, this.spec), weights, steps);
    this.plan = plan_of(steps, tested_lengths(state.train_length));
  }
  // There is one Worker, even if it is requested again before it is ready.
  open() {
    if (this.#opening) return this.#opening;
    const opening = this.#opening = Engine.start().then(engine => {
      if (this.#opening === opening) return this.#use(engine);
      engine.end();  // the lane was ended in the meantime
      throw new Error(CLOSED);
    });
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = null;  // the next training tries again
    });
    return opening;
  }
  #use(engine) {
    this.engine = engine;
    // Without `about`, training is about to begin: until then messages come from the previous model.
    const on = (event, hear) => engine.on(event, said => this.about && hear(said));
    on('steps', ({steps}) => {
      this.log.push(...steps);
      this.#clock();
      this.changed();
    });
    on('tested', test => {
      if (this.tests.at(-1)?.step !== test.step) this.tests.push(test);
      this.changed(true);
    });
    on('done', () => {
      this.status = 'done';
      this.changed(true);
    });
    engine.on('failed', ({error}) => this.fail(error));
    return engine;
  }
  // Steps a second over the last five seconds, including tests and the turns of other models.
  #clock() {
    const now = performance.now();
    this.#times.push([now, this.last.step]);
    while (this.#times.length > 2 && now - this.#times[0][0] > 5000) this.#times.shift();
    const [began, first] = this.#times[0];
    this.speed = Math.max(0, 1000 * (this.last.step - first) / Math.max(1, now - began));
  }
  async resume() {
    this.status = 'training';
    this.replayed = null;
    this.#times = [[performance.now(), this.last.step]];
    await this.engine.call('run', this.plan);
    this.changed();
  }
  async pause() {
    const starting = this.status === 'starting';  // then train() notices that it was paused
    this.status = 'paused';
    if (!starting) await this.engine.call('pause');
    this.changed();
  }
  async step() {
    this.status = 'paused';
    this.log.push(...await this.engine.call('step', 1));
    this.changed();
  }
  async run_on(steps) {
    this.plan.until = Math.max(this.plan.until, this.last.step) + steps;
    await this.resume();
  }
  // Loads a checkpoint of this page or of the program. If that fails, throws the engine's sentence and changes nothing.
  async load(bytes, name) {
    const engine = await this.open();
    const about = await engine.call('load', bytes, name);
    this.#beginning = {};  // training that is about to begin has lost its model
    const lengths = await engine.call('fitting', tested_lengths(Number(about.config.train_length)));
    this.#forget();
    Object.assign(this, {about, made: lane_of(about.config), status: 'paused', plan: plan_of(about.done, lengths)});
    this.baselines = by_name(await engine.call('baselines', lengths));
    await this.resume();
  }
  // For each kind of strip: the values in training, and in a test at the next tested length. null without a model.
  async coverage(length, edge) {
    if (!this.counted && this.has_model())
      this.counted = this.engine.call('seen', strip_lengths(edge), this.plan?.until ?? 0).then(in_runs, () => null);
    const seen = await this.counted;
    return seen ? strips_at(seen, length) : null;
  }
  has_model() { return Boolean(this.engine && this.about); }
  seconds_left() { return this.plan && this.speed ? (this.plan.until - this.last.step) / this.speed : NaN; }
  fail(words) {
    if (words === CLOSED) return;  // end() was called, which reports its reason
    this.status = 'failed';
    this.error = words;
    if (!this.about && !this.tests.length) this.made = null;  // no results of an earlier model remain
    if (/engine has stopped/i.test(words)) this.end();  // the next training begins in a new Worker
    this.changed(true);
  }
  end() {
    this.engine?.end();
    this.engine = this.#opening = null;
  }
}

// The lanes that were trained when the page was made, still without an engine.
export const recorded_lanes = ({lanes}) => lanes.map((record, n) => Lane.recorded({...record.spec}, n, record));
