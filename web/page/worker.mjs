// Runs in a Worker: one model of the engine. Calls come as {id, call, parts} and are answered as {id, value} or {id,
// error} between chunks of training steps, so that a pause never waits long. Progress is sent without a call.
import {Lab} from '../lab.mjs';
import {from_halves} from './halves.mjs';

const CHUNK = 80;  // milliseconds of training between two checks for messages
let lab = null, model = null, running = null;

// Waits until the page lets this model compute again (engine.mjs). It waits for messages, because a sleeping tab slows
// down timers but not messages.
let go = null;
const turn = () => new Promise(done => {
  go = done;
  postMessage({event: 'turn', again: true});
});

function need_model() {
  if (!model) throw new Error('There is no model yet: press Train first.');
  return model;
}
function forget() {
  running = null;
  model?.free();
  model = null;
}
const about = () =>
    ({parameters: model.parameters, config: model.config(), command: model.command(), done: model.done});

// Trains to `until` steps. On the way and at the end it tests `strings` strings at each of `lengths`: after `every`
// steps or a multiple of it, so that tests take about a fifth of the time. Messages are also read between two lengths.
async function run({until, every, lengths, strings}) {
  const mine = running = {};
  try {
    let tested = -1, size = 1, trained_for = Infinity, test_took = 0;
    await turn();
    while (running === mine) {
      const left = until - model.done;
      if (left > 0) {
        const began = performance.now(), next = every - model.done % every;
        const steps = model.step(Math.max(1, Math.min(size, left, next))), took = performance.now() - began;
        trained_for += took;
        size = Math.max(1, Math.min(50, Math.round(size * CHUNK / Math.max(took, 1))));
        postMessage({event: 'steps', steps});
      }
      const due = model.done >= until || model.done % every === 0 && trained_for >= 4 * test_took;
      if (due && tested !== model.done) {
        const curve = [];
        test_took = trained_for = 0;
        for (const length of lengths) {
          const began = performance.now();
          curve.push(...model.test({lengths: [length], strings}).map(row => [row.length, row.accuracy]));
          test_took += performance.now() - began;
          await turn();
          if (running !== mine) return;
        }
        tested = model.done;
        postMessage({event: 'tested', step: model.done, curve});
      }
      if (model.done >= until) break;
      await turn();
    }
    if (running === mine) postMessage({event: 'done', step: model.done}), running = null;
  } catch (wrong) {
    if (running === mine) running = null;
    postMessage({event: 'failed', error: sentence(wrong)});
  } finally {
    if (running === null) postMessage({event: 'turn', again: false});
  }
}

// The engine's message as a sentence.
function sentence(wrong) {
  const words = wrong.message.trim();
  const first = /^\S*[._]/.test(words) ? words[0] : words[0].toUpperCase();  // names keep their case
  return first + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.');
}

const calls = {
  async start(module) { lab = await Lab.start(module); },
  catalog: () => lab.catalog(),
  train_new(options) {
    forget();
    model = lab.train_new(options);
    return about();
  },
  load(bytes, name) {
    const loaded = lab.load(bytes, name);  // if this throws, the current model is kept
    forget();
    model = loaded;
    return about();
  },
  // A model from weights in half precision; Adam's moments begin at 0.
  recall(options, halves, steps) {
    calls.train_new(options);
    const numbers = new Float32Array(model.parts.reduce((all, {shape}) => all + shape.reduce((a, b) => a * b, 1), 0));
    numbers.set(from_halves(halves));
    lab.call('fill', [model.number, steps], numbers);
    model.done = steps;
    return about();
  },
  // The lengths, of those given, that fit the model.
  fitting: lengths => lengths.filter(length => {
    try {
      return need_model().test({lengths: [length], strings: 1}).length;
    } catch {
      return false;
    }
  }),
  run(plan) {
    need_model();
    run(plan);
  },
  pause() { running = null; },
  step(count) {
    running = null;
    return need_model().step(count);
  },
  matrix: (encoding, time, options) => lab.matrix(encoding, time, options),
  explain: (encoding, options) => lab.explain(encoding, options),
};
for (const name of ['test', 'baselines', 'seen', 'ask', 'dispersion', 'align', 'checkpoint'])
  calls[name] = (...parts) => need_model()[name](...parts);

onmessage = async ({data: {id, call, parts, turn}}) => {
  if (turn) return go?.();
  try {
    postMessage({id, value: await calls[call](...parts)});
  } catch (wrong) {
    postMessage({id, error: sentence(wrong)});
  }
};
