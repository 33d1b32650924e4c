// The laboratory's engine in JavaScript: the C++ of experiment/ as WebAssembly (web/*.cpp), the same in a page, in a
// Worker and in node. The numbers are the program's own; errors are thrown as Error with the program's message.
//
//   const lab = await Lab.start(bytes);                      // of lab_relaxed.wasm if relaxed_simd(), else lab.wasm
//   const m = lab.train_new({task: 'reverse_string', encoding: 'rope', positions: 'randomized', preset: 'tiny'});
//   for (const {step, loss} of m.step(10)) console.log(step, loss);
//   m.test({lengths: [20, 40], strings: 32});
import { read_checkpoint, to_toml, write_checkpoint } from './checkpoint.mjs';

// Whether this browser has relaxed SIMD, tested with a module of one function that uses it.
const uses_relaxed_simd = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15,
  253, 128, 2, 11,
];
export const relaxed_simd = () => WebAssembly.validate(new Uint8Array(uses_relaxed_simd));

// The system functions that the C++ library needs. There are no files, no environment and no clock; `said` collects the
// last message before an abort.
function system(memory, said) {
  const bad_file = 8, view = () => new DataView(memory().buffer);
  return {
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true), view().setUint32(bytes, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_write(file, pieces, count, written) {
      let text = '', bytes = 0;
      for (let at = pieces; at < pieces + 8 * count; at += 8) {
        const from = view().getUint32(at, true), length = view().getUint32(at + 4, true);
        text += new TextDecoder().decode(new Uint8Array(memory().buffer, from, length));
        bytes += length;
      }
      said.push(text);
      view().setUint32(written, bytes, true);
      return 0;
    },
    fd_close: () => bad_file,
    fd_seek: () => bad_file,
    fd_fdstat_get: () => bad_file,
    clock_time_get(clock, precision, time) {
      view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit(status) {
      throw new Error(`the engine ended with status ${status}: ${said.join('').trim()}`);
    },
  };
}

// A value in the program's spelling: switches are on and off, lists of numbers have spaces between them.
function spelled(name, value) {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${name} is ${value}; give a number`);
  return String(value);
}
const settings = (options) =>
  Object.entries(options).filter(([, value]) => value !== undefined && value !== null)
    .flatMap(([name, value]) => [name, spelled(name, value)]);

const list = (lengths) => (Array.isArray(lengths) ? lengths : [lengths]).join(' ');
// A number is one temperature for all queries, a text is a policy, "log_n:length=80"; undefined: the model's own.
const temperature_words = (t) => (t === undefined || t === null ? '' : typeof t === 'number' ? `constant:tau=${t}` : t);

export class Lab {
  #wasm;
  #said = [];
  #stopped = '';
  #catalog;

  // bytes: the bytes of a WebAssembly file, or a WebAssembly.Module
  static async start(bytes) {
    if (typeof WebAssembly === 'undefined')
      throw new Error('this browser has no WebAssembly, which the laboratory needs; use a newer one');
    const lab = new Lab();
    let module;
    try {
      module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
    } catch (e) {
      throw new Error(`this browser cannot read the engine (${e.message}); use one from 2023 or later`);
    }
    const imports = { wasi_snapshot_preview1: system(() => lab.#wasm.memory, lab.#said) };
    lab.#wasm = (await WebAssembly.instantiate(module, imports)).exports;
    lab.#wasm._initialize();
    return lab;
  }

  // Calls a function of the engine by its name (web/calls.h): words and numbers in, JSON and numbers out.
  call(name, words = [], numbers = new Float32Array(0)) {
    if (this.#stopped) throw new Error(this.#stopped);
    const all = [name, ...words].map(String);
    const bad = all.find((word) => word.includes('\0'));
    if (bad !== undefined) throw new Error(`"${bad.replaceAll('\0', '\\0')}" has a character 0; leave it out`);
    try {
      return this.#answer(new TextEncoder().encode(all.join('\0') + '\0'), numbers);
    } catch (e) {
      if (!(e instanceof WebAssembly.RuntimeError) && !(e instanceof RangeError)) throw e;
      const why = [e.message, ...this.#said].join(': ').trim();
      this.#stopped = `the engine has stopped (${why}): ` +
        'most likely no memory was left; what was saved is safe. Start again with a smaller model or batch';
      throw new Error(this.#stopped);
    }
  }

  #answer(bytes, numbers) {
    const w = this.#wasm;
    const words_at = w.room_for_words(bytes.length);
    const numbers_at = w.room_for_numbers(numbers.length);           // may grow the memory, so views are made after it
    new Uint8Array(w.memory.buffer).set(bytes, words_at);
    new Float32Array(w.memory.buffer, numbers_at, numbers.length).set(numbers);
    const reply = w.call();
    const [status, text_at, length, values_at, count] = new Uint32Array(w.memory.buffer, reply, 5);
    const text = new TextDecoder().decode(new Uint8Array(w.memory.buffer, text_at, length));
    if (status) throw Object.assign(new Error(text), { status });
    return { json: JSON.parse(text), numbers: new Float32Array(w.memory.buffer, values_at, count).slice() };
  }

  // {version, tasks, encodings, samplers, temperatures, presets, options}: the program's own lists
  catalog() { return (this.#catalog ??= this.call('catalog').json); }
  get version() { return this.catalog().version; }
  get memory_bytes() { return this.#wasm.memory.buffer.byteLength; }

  // A model that has not been trained. options: those of `poslab train`, by their names.
  train_new(options = {}) { return new Model(this, this.call('train_new', settings(options)).json); }
  // A model from a checkpoint of the page or of the program. name: that of the file, for messages
  load(bytes, name = 'the checkpoint') {
    const c = read_checkpoint(new Uint8Array(bytes), name, this.format);
    const m = new Model(this, this.call('load', [name, c.weights, ...settings(c.config)]).json);
    try {
      this.call('fill', [m.number, c.step], c.numbers_of(m.parts));
    } catch (e) {
      m.free();
      throw e;
    }
    m.done = Number(c.step);
    return m;
  }
  get format() { return 'poslab checkpoint 1'; }

  // The T x T matrix that `poslab show` draws; NaN for masked pairs. options: heads, d_model, causal, layer, head (from
  // 0), positions, at (a list of T positions), train_length, seed
  matrix(encoding, T, options = {}) {
    return this.call('matrix', [encoding, T, ...settings(options)]).numbers;
  }
  // The description of a scheme with these options: formula, doors, reads, meaning of its matrix, laws, frequencies
  explain(encoding, options = {}) {
    const { length = 40, ...others } = options;
    return this.call('explain', [encoding, length, ...settings(others)]).json;
  }
}

export class Model {
  constructor(lab, about) {
    this.lab = lab;
    this.number = about.model;
    this.parameters = about.parameters;
    this.parts = about.parts;              // tensors of a checkpoint: {name, shape}
    this.room = about.room;                // the largest number of slots that has positions
    this.about = about;
    this.done = 0;                         // steps
  }
  call(name, ...words) { return this.lab.call(name, [this.number, ...words]); }

  // n steps of training -> [{step, loss, accuracy, gradient_norm, length}]
  step(n = 1) {
    const all = [];
    for (let i = 0; i < n; ++i) all.push(this.call('step').json);
    if (n > 0) this.done = all.at(-1).step;
    return all;
  }
  // -> [{length, accuracy, unmasked_accuracy, loss, strings}] as fractions. others: positions, temperature
  /** @param {{lengths?: any, strings?: number, positions?: string, temperature?: any}} options */
  test({ lengths, strings = 32, positions, temperature } = {}) {
    const test_temperature = temperature === undefined ? undefined : temperature_words(temperature);
    return this.call('test', list(lengths), strings, ...settings({ test_positions: positions, test_temperature })).json;
  }
  // The baselines -> [{length, chance, majority, content_only}]
  baselines(lengths, strings = 200) { return this.call('baselines', list(lengths), strings).json; }

  // All options: {name: text}
  config() { return Object.fromEntries(this.about.config.map((o) => [o.name, o.value])); }
  // The command that trains the same model natively.
  command(folder = 'runs/page') {
    const words = this.about.said.flat().concat(['--out', folder]);
    return ['poslab', 'train', ...words].map(shell_word).join(' ');
  }
  checkpoint() {
    const { json, numbers } = this.call('weights');
    return write_checkpoint({ format: this.about.format, ...json, config: this.toml() }, this.parts, numbers);
  }
  toml() { return to_toml(this.about.config); }          // as in config.toml
  free() { this.call('free'); }

  // The values in training and in tests of these lengths: {reads, positions, distances, gaps}. Each is {trained:
  // [[value, count]], tests: [{length, met: [[value, count]], seen}]} or {none: why}. steps: how many training steps to
  // count, by default all of the run
  seen(lengths = [this.train_length, 2 * this.train_length], steps = 0) {
    return this.call('seen', list(lengths), steps).json;
  }
  get train_length() { return Number(this.config().train_length); }

  // The answer to a user's string -> {slots: [{target, answer, scored, probabilities}], input, positions, accuracy,
  // layers, heads, time, attention: Float32Array (layers, heads, time, time)}. positions: one for each slot; silenced:
  // [layer, head], both from 0
  /**
   * @param {any} symbols
   * @param {{positions?: number[], temperature?: any, silenced?: number[][]}} options
   */
  ask(symbols, { positions = [], temperature, silenced = [] } = {}) {
    const text = Array.isArray(symbols) ? symbols.join(' ') : symbols;
    const heads = silenced.map((one) => one.join(' ')).join(';');
    const { json, numbers } = this.call('ask', text, positions.join(' '), temperature_words(temperature), heads);
    return { ...json, attention: numbers };
  }
  // -> [{length, keys, largest, entropy, layers: [{largest, entropy}]}]: means over rows of attention weights
  dispersion(lengths, temperature, strings = 8) {
    return this.call('dispersion', list(lengths), temperature_words(temperature), strings).json;
  }
  // The temperature at which attention at this length is as peaked as it is at the trained length -> {temperature,
  // target, before, after}
  align(length, strings = 8) { return this.call('align', length, strings).json; }
  // The scheme's matrix with the current weights
  matrix(T, { layer = 0, head = 0 } = {}) { return this.call('matrix_of_model', T, layer, head).numbers; }
}

// Quoted as one word for a shell.
function shell_word(text) {
  return /^[A-Za-z0-9\-_./,:=+@%]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
