// Compares the engine in a headless Chromium with the program: losses, tests, checkpoints in both directions, refusals.
// usage: node engine.mjs FOLDER_OF_THE_MODULES POSLAB TRAINING_STEPS, from the repository's top folder
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Browser } from './browser.mjs';

const [modules, poslab, training_steps] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'poslab-web-'));
const natively = (program, ...words) =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

let passed = 0, failed = 0;
async function check(what, test) {
  try {
    const said = await test();
    ++passed;
    console.log(`ok    ${what}${said ? ': ' + said : ''}`);
  } catch (e) {
    ++failed;
    console.log(`FAIL  ${what}\n      ${e.stack ?? e}`);
  }
}
function must(is, what) {
  if (!is) throw new Error(what);
}

// -- functions that run in the page; all use `lab`, one engine

async function start(url) {
  const { Lab } = await import('/web/lab.mjs');
  const began = performance.now();
  globalThis.lab = await Lab.start(await (await fetch(url)).arrayBuffer());
  return performance.now() - began;
}
// Five steps of every scheme, like tests/wasm/step.cpp: [encoding, step, loss]
async function five_steps() {
  const all = [];
  for (const { name, causal_only } of lab.catalog().encodings) {
    const m = lab.train_new({ task: 'reverse_string', encoding: name, positions: 'randomized',
      causal: causal_only !== '', layers: 2, heads: 2, d_model: 16, batch: 4, train_length: 8,
      max_position: 128, eval_lengths: '1:12' });
    for (const { step, loss } of m.step(5)) all.push([name, step - 1, loss]);
    m.free();
  }
  return all;
}
const tiny = { preset: 'tiny', task: 'bucket_sort', encoding: 'rope', positions: 'randomized', steps: 20, seed: 3,
  layers: 2, eval_lengths: '19:22' };
async function trained(options) {
  const m = lab.train_new(options);
  m.step(Number(options.steps));
  const bytes = m.checkpoint();
  return { command: m.command(), toml: m.toml(), bytes: btoa(bytes.reduce((s, b) => s + String.fromCharCode(b), '')),
    test: m.test({ lengths: [19, 20, 21, 22], strings: 32 }), baselines: m.baselines([20, 21], 500) };
}
async function loaded(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const m = lab.load(bytes), again = m.checkpoint();
  return { done: m.done, same: again.length === bytes.length && again.every((b, n) => b === bytes[n]),
    test: m.test({ lengths: [19, 20, 21, 22], strings: 32 }) };
}
// Checks the numbers that a page shows about a model, and that it still works after errors; returns the failed checks.
async function looked() {
  const wrong = [], must = (is, what) => is || wrong.push(what), near = (a, b) => Math.abs(a - b) < 1e-5;
  const says = (part, f) => {
    try {
      f();
      wrong.push(`nothing said "${part}"`);
    } catch (e) {
      must(e.message.includes(part), `"${e.message}" does not say "${part}"`);
    }
  };
  const m = lab.train_new({ preset: 'tiny', task: 'reverse_string', encoding: 'alibi:mode=differences',
    positions: 'randomized', layers: 2 });
  m.step(2);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const a = m.ask('0110'), T = a.time;
  must(T === 8 && a.slots.map((s) => s.target).join('') === '0110', 'the slots of an answer');
  must(a.slots.every((s) => near(sum(s.probabilities), 1)), 'probabilities sum to 1');
  must(a.attention.length === a.layers * a.heads * T * T, 'the size of the attention');
  for (let row = 0; row < a.attention.length; row += T)
    must(near(sum(a.attention.subarray(row, row + T)), 1), `row ${row} of the attention`);
  const changed = (how) => m.ask('0110', how).slots.some((s, n) => s.probabilities[0] !== a.slots[n].probabilities[0]);
  must(!changed({ positions: a.positions }) && changed({ positions: [0, 1, 2, 3, 4, 5, 6, 90] }), 'positions');
  must(changed({ temperature: 0.3 }) && changed({ silenced: [[1, 2]] }), 'temperature and silenced heads');
  const seen = m.seen([20, 40]);
  must(seen.reads === 'distances' && seen.distances.tests[1].seen > 0.5, 'what training has met');
  must(sum(seen.positions.tests[0].met.map(([, n]) => n)) > 0 && seen.gaps.trained[0][0] >= 1, 'positions and gaps');
  const [short, long] = m.dispersion([20, 60]);
  must(short.largest > long.largest && short.entropy < long.entropy, 'attention spreads with length');
  const found = m.align(60);
  must(found.least > 0 && found.temperature >= found.least, 'the lowest temperature that is tried');
  must(found.temperature < 1 && found.after.largest > found.before.largest, 'a temperature that sharpens');
  const bias = lab.matrix('alibi', 300, { heads: 8, head: 0 });
  must(bias.length === 300 * 300 && near(bias[5], -2.5), `ALiBi's first head, 5 away: ${bias[5]}`);
  must(lab.explain('rope').frequencies.length === 4, 'frequencies');
  says('did you mean "rope"', () => lab.train_new({ task: 'parity_check', encoding: 'ropo' }));
  says('heads = 3 does not divide', () => lab.train_new({ task: 'parity_check', encoding: 'rope', heads: 3 }));
  says('GB of memory', () => lab.train_new({ task: 'parity_check', encoding: 'rope', d_model: 8192, heads: 8 }));
  says('is not a symbol of', () => m.ask('012'));
  says('7 positions for 8', () => m.ask('0110', { positions: [1, 2, 3, 4, 5, 6, 7] }));
  says('the model has 2 layers', () => m.ask('0110', { silenced: [[2, 0]] }));
  says('it takes 1 .. 10000', () => m.test({ lengths: [0] }));
  must(m.step(1)[0].step === 3, 'the model goes on');
  m.free();
  says('no longer there', () => m.step());
  return wrong;
}
async function refused(base64, changes) {
  const good = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const sentence = (f) => {
    try {
      f();
      return null;
    } catch (e) {
      return e.message;
    }
  };
  const text = (bytes, from, to) => {
    const all = Array.from(bytes, (b) => String.fromCharCode(b)).join('');
    return Uint8Array.from(all.replace(from, to), (c) => c.charCodeAt(0));
  };
  const { sealed } = await import('/web/checkpoint.mjs');
  const files = {
    'is cut off after 11 bytes': good.slice(0, 11),
    'begin like a checkpoint': text(good, '__metadata__', '__metabase__'),
    'its checksum is': good.map((b, n) => (n === good.length - 1 ? b ^ 1 : b)),
    'another version of poslab': sealed(text(good, 'poslab checkpoint 1', 'poslab checkpoint 9')),
    'is not JSON': sealed(text(good, '"seed"', '"seed')),
    'its options have the line': sealed(text(good, 'task = ', 'task : ')),
    'option "casual"': sealed(text(good, 'causal = ', 'casual = ')),
    'has no tensor head.b': sealed(text(good, '"head.b"', '"head.c"')),
  };
  return Object.entries(files).map(([wanted, bytes]) => [wanted, sentence(() => lab.load(bytes, 'mine.safetensors'))]);
}

// The first logged step of a lane that was recorded when the page was made, trained again.
async function recorded(lane, state) {
  const { options_of } = await import('/web/page/take.mjs');
  const m = lab.train_new(options_of(state, lane.spec)), [step] = lane.log[0];
  const { loss, accuracy, gradient_norm } = m.step(step).at(-1);
  m.free();
  return [step, ...[loss, accuracy, gradient_norm].map((x) => Math.round(x * 1e4) / 1e4)];
}

const csv = (path) => {
  const [head, ...rows] = readFileSync(path, 'utf8').trim().split('\n').map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(row.map((text, n) => [head[n], Number(text)])));
};
// Compares the page's accuracies with those in an eval.csv: they are equal, except for answers near a tie.
function beside(page, native, most) {
  const off = page.map((row) => Math.abs(row.accuracy - native.find((n) => n.length === row.length).accuracy));
  must(Math.max(...off) <= most, `accuracies differ by up to ${Math.max(...off)}: ${JSON.stringify(page)}`);
  return `accuracies at 4 lengths differ by at most ${Math.max(...off).toExponential(1)}`;
}

const browser = await Browser.start('.');
const native = natively(training_steps).trim().split('\n').map((line) => line.split(' '));
for (const module of ['lab', 'lab_relaxed']) {
  const url = '/' + relative('.', join(modules, module + '.wasm'));
  await check(`${module}: starts`, async () => `in ${(await browser.run(start, url)).toFixed(0)} ms`);
  await check(`${module}: five steps of every scheme, to 1e-5 of the program's`, async () => {
    const page = await browser.run(five_steps);
    must(page.length === native.length && page.length > 300, `${page.length} losses and ${native.length} natively`);
    let worst = 0;
    page.forEach(([name, step, loss], n) => {
      must(name === native[n][0] && step === Number(native[n][1]), `${name} ${step} beside ${native[n]}`);
      const off = Math.abs(loss - Number(native[n][2]));
      must(off <= 1e-5, `${name}, step ${step}: ${loss}, natively ${native[n][2]}`);
      worst = Math.max(worst, off);
    });
    return `${page.length} losses of ${page.length / 5} schemes, worst difference ${worst.toExponential(1)}`;
  });
  if (module === 'lab')
    await check('lab: the recorded lanes of the page come from this engine', async () => {
      const { lanes, state } = JSON.parse(readFileSync('web/page/snapshots.json'));
      const now = await browser.run(recorded, lanes[0], state);
      must(String(now) === String(lanes[0].log[0]),
        `${now} now, ${lanes[0].log[0]} in web/page/snapshots.json; tools/web snapshots makes them again`);
      return `${lanes[0].spec.encoding} after ${now[0]} steps has loss ${now[1]}`;
    });
  let made;
  await check(`${module}: a checkpoint of the page is evaluated by the program`, async () => {
    made = await browser.run(trained, tiny);
    const file = join(scratch, `${module}.safetensors`);
    writeFileSync(file, Buffer.from(made.bytes, 'base64'));
    natively(poslab, 'eval', file);
    return beside(made.test, csv(join(scratch, module, 'eval.csv')), 1e-6);
  });
  await check(`${module}: its command trains the same natively, and back`, async () => {
    const folder = join(scratch, `${module}-native`);
    const words = made.command.split(' ').slice(1, -2);
    natively(poslab, ...words, '--out', folder);
    must(readFileSync(join(folder, 'config.toml'), 'utf8') === made.toml, 'config.toml differs');
    const bytes = readFileSync(join(folder, 'checkpoint.safetensors'));
    const back = await browser.run(loaded, bytes.toString('base64'));
    must(back.done === tiny.steps, `${back.done} steps`);
    must(back.same, 'the page writes the same model as other bytes');
    const native_test = csv(join(folder, 'eval.csv'));
    made.baselines.forEach((b) => {
      const row = native_test.find((n) => n.length === b.length);
      for (const one of ['chance', 'majority', 'content_only'])
        must(Math.abs(row[one] - b[one]) < 1e-6, `${one} is ${b[one]}, natively ${row[one]}`);
    });
    return beside(back.test, native_test, 1e-6) + ', the same bytes';
  });
  await check(`${module}: questions, attention, matrices, wrong words`, async () => {
    const wrong = await browser.run(looked);
    must(wrong.length === 0, wrong.join('\n'));
  });
  await check(`${module}: damaged and foreign checkpoints are refused in a sentence`, async () => {
    const said = await browser.run(refused, made.bytes);
    for (const [wanted, message] of said) {
      must(message?.includes(wanted), `expected "... ${wanted} ...", got ${message}`);
    }
    return `${said.length} files`;
  });
}
await check('the console has no messages', async () => must(browser.said.length === 0, browser.said.join('\n')));
await browser.stop();
rmSync(scratch, { recursive: true });
console.log(`test cases: ${passed + failed} | ${passed} passed | ${failed} failed`);
process.exitCode = failed ? 1 : 0;
