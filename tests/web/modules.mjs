// The modules of the page that need no browser: links, expressions, laws, figures, files.    node --test modules.mjs
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {read_expression, read_frequencies} from '../../web/page/expression.mjs';
import {chart_shapes, frame_of, parted, runs_of, strip_shapes, svg_file} from '../../web/page/figures.mjs';
import {from_halves, to_halves} from '../../web/page/halves.mjs';
import {status_of} from '../../web/page/card.mjs';
import {commands_of, picture_of} from '../../web/page/home.mjs';
import {in_runs, Lane, strip_lengths, strips_at, tested_lengths} from '../../web/page/lane.mjs';
import {laws_of_bias, laws_of_frequencies, laws_of_positions} from '../../web/page/laws.mjs';
import {random_positions} from '../../web/page/lecture.mjs';
import {check_names, first_state, known_name, link_of, read_link} from '../../web/page/link.mjs';
import {calibrated_bias} from '../../web/page/bias.mjs';
import {spelled_own} from '../../web/page/own.mjs';
import {spelled_options, with_numbers} from '../../web/page/positions.mjs';
import {smoothed} from '../../web/page/race.mjs';
import {learned_words} from '../../web/page/start.mjs';
import {bibtex, csv, curves_csv, file_name, options_of, sources_of, task_words} from '../../web/page/take.mjs';
import {Turns} from '../../web/page/turns.mjs';

const recorded = JSON.parse(readFileSync(new URL('../../web/page/snapshots.json', import.meta.url)));
const bad = JSON.parse(readFileSync(new URL('bad.json', import.meta.url)));

test('the lanes of the first screen have learned as much as the screen says', () => {
  const edge = recorded.state.train_length;
  assert.equal(recorded.lanes.length, 4);
  for (const {spec, tests} of recorded.lanes) {
    const trained = tests.at(-1).curve.filter(([length]) => length <= edge);
    assert.ok(trained.some(([length]) => length === edge));
    for (const [length, accuracy] of trained)
      assert.ok(accuracy > .98, `${spec.encoding}, ${spec.positions}: ${accuracy} at length ${length}`);
  }
  const lanes = recorded.lanes.map((lane, n) => Lane.recorded(lane.spec, n, lane));
  assert.match(
      learned_words(lanes, edge), /up to 20 digits .*: at each length (all|9[89](\.\d)? % or more) of the digits/);
  const others = [...lanes, {curve: [[1, 1], [20, .8555], [40, .1]]}];
  assert.match(learned_words(others, edge), /at each length 85\.5 % or more of/);
});
test('a link holds the whole state', () => {
  const state = {
    ...first_state(),
    view: 'race',
    task: 'duplicate_string:copies=3',
    length: 73,
    string: '0 1&2=3 %+#',
    layers: 3,
    lr: '3e-4',
    guess: 'all four',
    lanes: [
      {encoding: 'none*4+alibi*4', positions: 'randomized:max_position=99|sequential', temperature: 'log_n', seed: 7},
      {encoding: 'sincos&alibi', positions: 'sequential', temperature: 'none', seed: 0}
    ]
  };
  assert.deepEqual(read_link(link_of(state)), {state, problems: []});
  const embedded = {...first_state(), embed: true, view: 'lecture', scene: 5};
  assert.deepEqual(read_link(link_of(embedded)), {state: embedded, problems: []});
  assert.equal(link_of(first_state()), '#');
});
test(
    'an empty link gives the first state',
    () => assert.deepEqual(read_link(''), {state: first_state(), problems: []}));
for (const [link, words] of bad.links)
  test(`a bad link is one sentence: ${link}`, () => {
    const {state, problems} = read_link(link);
    assert.equal(problems.length, 1, problems.join(' '));
    assert.ok(problems[0].includes(words), problems[0]);
    assert.ok(problems[0].length < 260, 'short');
    const kept = read_link(`${link}&steps=77`);  // the valid parts of a link are still used
    if (!link.startsWith('#steps')) assert.equal(kept.state.steps, 77);
    assert.deepEqual(Object.keys(state).sort(), Object.keys(first_state()).sort());
  });
test('a link that is far too long', () => {
  const {state, problems} = read_link(`#string=${'x'.repeat(9000)}`);
  assert.equal(problems.length, 1);
  assert.deepEqual(state, first_state());
});
test('names that no list has', () => {
  const list = (...names) => names.map(name => ({name}));
  const catalog = {
    tasks: list('bucket_sort'),
    encodings: list('rope', 'alibi', 'none'),
    samplers: list('sequential'),
    temperatures: list('none')
  };
  const {state} = read_link('#task=sorting&lane=rope|none*4+alibi*4~sequential~none~1&lane=ropes~sequence~hot~1');
  const said = check_names(state, catalog);
  assert.equal(said.length, 4);
  assert.ok(said[0].includes('task “sorting”'));
  assert.equal(state.task, 'bucket_sort');
  assert.deepEqual(state.lanes[1], {encoding: 'rope', positions: 'sequential', temperature: 'none', seed: 1});
  assert.equal(state.lanes[0].encoding, 'rope|none*4+alibi*4');
});

test('expressions have the values of arithmetic', () => {
  const at = (text, values = {}) => read_expression(text)({i: 3, j: 5, h: 2, n: 9, ...values});
  for (const [text, value] of [
           ['1 + 2 * 3', 7], ['(1 + 2) * 3', 9], ['2^3^2', 512], ['-2^2', -4], ['--2', 2], ['2^-1', .5],
           ['10 - 4 - 3', 3], ['16 / 4 / 2', 2], ['-7 % 5', 3], ['abs(i - j)', 2], ['if(i < j, h, n)', 2],
           ['if(i >= j, h, n)', 9], ['max(min(i, j), h + 2)', 4], ['clamp(9, 0, 1)', 1], ['pi > 3.14', 1],
           ['log2(8) + .5e1', 8], ['i == 3', 1], ['i != 3', 0]])
    assert.equal(at(text), value, text);
  assert.ok(Number.isNaN(at('sqrt(0 - 1)')));
  assert.equal(at('log(0)'), -Infinity);
});
for (const [text, words] of bad.expressions)
  test(`a bad expression: ${text}`, () => assert.throws(() => read_expression(text), e => {
         assert.ok(e.message.includes(words), e.message);
         return true;
       }));
test('expressions that are too long or too deep', () => {
  assert.throws(() => read_expression('1+'.repeat(200) + '1'), /has 401 characters/);
  assert.throws(
      () => read_expression(
          '('.repeat(60) + '1' +
          ')'.repeat(60)),
      /more than 40 levels/);
  assert.throws(() => read_expression('-'.repeat(100) + '1'), /more than 40 levels/);
});
for (const [text, words] of bad.frequencies)
  test(`bad frequencies: ${text}`, () => assert.throws(() => read_frequencies(text), e => {
         assert.ok(e.message.includes(words), e.message);
         return true;
       }));

const holds = (laws, part) => laws.find(({law}) => law.includes(part)).holds;
test('laws of a bias', () => {
  const alibi = laws_of_bias(read_expression('-abs(i - j) / 2^(h + 1)'));
  assert.equal(holds(alibi, 'Toeplitz'), true);
  assert.equal(holds(alibi, 'range'), false);
  const window = laws_of_bias(read_expression('if(abs(i - j) < 8, 0, -4)'));
  assert.equal(holds(window, 'range'), true);
  const absolute = laws_of_bias(read_expression('i * j'));
  assert.equal(holds(absolute, 'Toeplitz'), false);
  assert.equal(holds(laws_of_bias(read_expression('-abs(i - j) / n')), 'Longer'), false);
  const broken = laws_of_bias(read_expression('1 / (i - 2) - 1 / (i - 2)'));
  assert.equal(broken.length, 1);
  assert.ok(broken[0].words.includes('i = 2'));
  const of_the_query = laws_of_bias(read_expression('sin(i)'));
  assert.equal(holds(of_the_query, 'tells keys apart'), false);
  assert.ok(of_the_query.at(-1).words.includes('softmax cancels'));
  assert.equal(holds(alibi, 'tells keys apart'), true);
});
test('laws of a bias that masks', () => {
  const window = laws_of_bias(read_expression('if(abs(i - j) < 8, 0, -1/0)'));
  for (const part of ['Toeplitz', 'tells keys apart', 'Longer', 'range']) assert.equal(holds(window, part), true, part);
  assert.ok(window.find(({law}) => law.includes('Both sides')).words.startsWith('yes'));
  const causal = laws_of_bias(read_expression('if(j > i, -1/0, 0)'));
  assert.equal(holds(causal, 'tells keys apart'), true);
  assert.ok(causal.find(({law}) => law.includes('Both sides')).words.includes('left from right'));
  const nothing = laws_of_bias(read_expression('log(0)'));
  assert.equal(holds(nothing, 'tells keys apart'), false);
  assert.ok(nothing.at(-1).words.includes('no key is left'));
});
test('results keep the name of the trained encoding until another one is trained', () => {
  const lane = Lane.recorded(
      {encoding: 'rope', positions: 'randomized', temperature: 'none', seed: 1}, 0,
      {
        tests: [{step: 60, curve: [[20, .6], [40, .5]]}],
        log: [[60, .5, .6, 1]],
        baselines: {},
        command: 'poslab train'
      });
  assert.equal(lane.set_anew, false);
  lane.spec.encoding = 'alibi';
  assert.equal(lane.name, 'rope, randomized');
  assert.equal(lane.set_anew, true);
  lane.status = 'paused';
  assert.ok(status_of(lane, 20).includes('trained as rope, randomized; press Train'));
  assert.equal(new Lane(lane.spec, 1).name, 'alibi, randomized');  // nothing is trained yet
  assert.equal(commands_of([lane, new Lane(lane.spec, 1), lane]), 'poslab train\nposlab train');
});
test('a model that learned nothing is reported as such, by its mean loss', () => {
  const lane = new Lane({encoding: 'rope', positions: 'sequential'}, 0);
  Object.assign(lane, {
    status: 'done',
    tests: [{step: 3, curve: [[10, .55], [20, .52]]}],
    baselines: {chance: [[10, .5], [20, .5]], majority: [[10, .5], [20, .51]]},
    log: [{step: 1, loss: 1}, {step: 2, loss: .5}, {step: 3, loss: 0}]
  });
  assert.ok(status_of(lane, 20).startsWith('trained 3 steps, loss 0.500. Not learned: even at length 20'));
  lane.tests[0].curve[1][1] = .9;
  assert.equal(status_of(lane, 20), 'trained 3 steps, loss 0.500');
  assert.equal(lane.tested_at(20), true);
  assert.equal(lane.tested_at(15), false);
});
test('names and options as they are spelled', () => {
  const list = [{name: 'rope', options: []}, {name: 'alibi', options: [{name: 'symmetric', about: 'no side'}]}];
  assert.ok(known_name(list, 'rope:base=100|alibi*2'));
  assert.ok(!known_name(list, 'rope|ropes'));
  assert.deepEqual(spelled_options('alibi:symmetric', list), [['symmetric', 'no side']]);
  assert.deepEqual(spelled_options('alibi', list), []);
});
test('laws of positions and of frequencies', () => {
  const counted = laws_of_positions(read_expression('i', ['i', 'n']));
  assert.equal(holds(counted, 'Later'), true);
  assert.equal(holds(counted, 'all positions'), false);
  assert.equal(holds(counted, 'all gaps'), true);
  assert.equal(holds(laws_of_positions(read_expression('i % 4', ['i', 'n'])), 'Later'), false);
  assert.equal(holds(laws_of_frequencies([1, .1, .01]), 'fast to slow'), true);
  assert.equal(holds(laws_of_frequencies([.1, 4]), 'half a circle'), false);
  assert.ok(laws_of_frequencies([1, .1, .01]).at(-1).words.startsWith('1 of 3'));  // 40 slots: 6.4, 0.6, 0.06 turns
});
test('a user’s encoding in the spelling of the program', () => {
  const positions = spelled_own('positions', read_expression('2 * i', ['i', 'n']), {pool: 50});
  assert.ok(positions.positions.startsWith('given:at=0/2/4/'));
  assert.ok(spelled_own('positions', read_expression('i / n', ['i', 'n']), {pool: 50}).why.includes('depends on n'));
  const sizes = {layers: 2, heads: 4, train_length: 20}, bias = text => spelled_own('bias', null, {text, sizes});
  assert.equal(bias(' -abs(i - j) ').encoding, 'own(-abs(i - j))');
  assert.ok(bias('-i').why.includes('more than j - i'));
  assert.ok(bias('abs(i - j) / n').why.includes('more than j - i'));
  assert.ok(bias('if(abs(i - j) < n / 8, 0, -1/0)').why.includes('more than j - i'));
  assert.ok(bias('exp(abs(i - j))').why.includes('at most 500'));
  assert.ok(bias('-1000').why.includes('hides every key'));
  const given = options_of({...first_state(), ...sizes}, {encoding: 'own(-abs(i - j) * h)'}).encoding;
  assert.ok(given.startsWith('calibrated:of=1.1 -320:0 ') && given.includes(' 2.4 -166:-498 '), given.slice(0, 99));
  assert.ok(calibrated_bias('abs(i - j)', sizes).startsWith('calibrated:of=all -320:320 '));
  assert.ok(spelled_own('frequencies', [1, 2], {head_dim: 16}).why.includes('8 pairs'));
  assert.ok(spelled_own('frequencies', [1, 2], {head_dim: 64 / 3}).why.includes('no even number of channels'));
  const rope = Array.from({length: 8}, (_, m) => 10000 ** (-m / 8));
  assert.equal(
      spelled_own('frequencies', rope, {head_dim: 16}).encoding,
      `longrope:long=${Array(8).fill(1).join('/')},short=${Array(8).fill(1).join('/')},factor=1`);
});

test('a chart draws its values where they belong', () => {
  const chart = {
    width: 300,
    height: 200,
    x: [0, 100],
    y: [0, 1],
    curves: [{name: 'a<b', colour: 'var(--c0)', points: [[0, 0], [50, NaN], [100, 1]]}],
    shaded: 20
  };
  const frame = frame_of(chart), drawn = chart_shapes(chart);
  assert.equal(frame.x(100), frame.right);
  assert.equal(frame.y(1), frame.top);
  assert.ok(Math.abs(frame.x.inverse(frame.x(37)) - 37) < 1e-9);
  assert.ok(drawn.includes(`M${frame.left} ${frame.bottom}M${frame.right} ${frame.top}`), 'a gap without a number');
  assert.ok(drawn.includes('a&lt;b') && !drawn.includes('a<b'));
});
test('runs of values, and what two of them share', () => {
  assert.deepEqual(runs_of([[-2, 5], [-1, 5], [1, 2], [2, 9], [7, 1]]), [[-2, -1], [1, 2], [7, 7]]);
  assert.deepEqual(
      parted([[0, 9], [20, 22]], [[-5, 1], [4, 5], [9, 20]]),
      [[[0, 1], [4, 5], [9, 9], [20, 20]], [[2, 3], [6, 8], [21, 22]]]);
});
test('strips distinguish values that training had from others', () => {
  const drawn = strip_shapes({trained: [[0, 2]], needed: [[1, 4]], low: 0, high: 4}, 100, 22);
  assert.ok(drawn.includes('<rect x="60" y="12" width="40" height="10" style="fill:var(--unmet)"/>'), drawn);
  assert.ok(drawn.includes('<rect x="20" y="12" width="40" height="10" style="fill:var(--met)"/>'), drawn);
});
test('the strip of the next counted length', () => {
  const part = {
    trained: [[0, 1], [9, 1]],
    tests: [{length: 5, met: [[0, 1]], seen: 1}, {length: 20, met: [[0, 1], [30, 1]], seen: .5}]
  };
  const strips = strips_at(in_runs({reads: 'positions', positions: part, distances: {none: 'why'}, gaps: part}), 6);
  assert.equal(strips.positions.length, 20);
  assert.equal(strips.positions.share, .5);
  assert.deepEqual([strips.positions.low, strips.positions.high], [0, 30]);
  assert.equal(strips.distances, null);
  assert.deepEqual(strip_lengths(20).slice(0, 4), [5, 10, 20, 22]);
  assert.ok(tested_lengths(20).includes(20) && tested_lengths(1).every(n => n >= 1));
});
test('a long run is drawn as means of neighbours', () => {
  const log = Array.from({length: 900}, (_, n) => ({step: n + 1, loss: n % 3}));
  assert.equal(smoothed(log, 'loss').length, 300);
  assert.deepEqual(smoothed(log, 'loss')[0], [3, 1]);
  assert.deepEqual(smoothed([], 'loss'), []);
});
test('a picture saved as a file contains its colours', () => {
  const colours = {'--c0': '#123456', '--paper': '#fff'};
  const file = svg_file('<path style="stroke:var(--c0)"/>', 10, 10, 'a & b', 'about', name => colours[name]);
  assert.ok(!file.includes('var(') && file.includes('stroke:#123456') && file.includes('a &amp; b'));
});

test('tables, citations and names of files', () => {
  assert.equal(csv(['a', 'b'], [['x,y', 1], ['"', NaN]]), 'a,b\n"x,y",1\n"""",\n');
  const lane = {encoding: 'rope', positions: 'sequential', temperature: 'none', seed: 1, step: 9, curve: [[5, .5]]};
  assert.equal(
      curves_csv([{task: 'sort', ...lane}], [{task: 'sort', name: 'chance', points: [[5, .2]]}]),
      'task,encoding,positions,temperature,seed,step,length,accuracy\n' +
          'sort,rope,sequential,none,1,9,5,0.5\nsort,chance,,,,,5,0.2\n');
  const cited = bibtex('0.1', ['Su et al. 2021', 'Su et al. 2021', 'Chi, Fan, Rudnicky 2023', 'yours']);
  assert.equal(cited.match(/@/g).length, 3);
  assert.ok(cited.includes('author = {Chi and Fan and Rudnicky}') && cited.includes('{Su and others}'));
  assert.equal(file_name(['Bucket Sort', 'rope, randomized'], 'svg'), 'bucket-sort-rope-randomized.svg');
  assert.equal(file_name(['…'], 'csv'), 'past-the-edge.csv');
});
test('sources of all schemes in a lane', () => {
  const encodings =
      [{name: 'rope', source: 'Su et al. 2021'}, {name: 'alibi', source: 'Press et al. 2022'}, {name: 'none'}];
  const samplers = [{name: 'sequential'}, {name: 'randomized', source: 'Ruoss et al. 2023'}];
  const lists = {encodings, samplers, temperatures: [{name: 'none'}, {name: 'key_norm', source: 'Su 2023 (KeyNorm)'}]};
  const plain = {encoding: 'none', positions: 'sequential', temperature: 'none'};
  const sources = (...names) => sources_of(lists, names.map(encoding => ({...plain, encoding})));
  assert.deepEqual(sources('rope:base=500'), ['Su et al. 2021']);
  assert.deepEqual(sources('none*4+alibi:symmetric*4', 'rope|none'), ['Press et al. 2022', 'Su et al. 2021']);
  assert.deepEqual(sources('own(-abs(i - j) + h)'), []);
  assert.deepEqual(
      sources_of(lists, [{encoding: 'none', positions: 'randomized:unsorted', temperature: 'key_norm'}]),
      ['Ruoss et al. 2023', 'Su 2023 (KeyNorm)']);
});
test('a picture that is saved names its lanes as they are spelled', () => {
  const lane = Lane.recorded(
      {encoding: 'sincos&alibi', positions: 'sequential', temperature: 'none', seed: 1}, 0,
      {tests: [{step: 1, curve: [[5, .5]]}], log: [], baselines: {}});
  assert.ok(picture_of([lane], 20).shapes.includes('>sincos&amp;alibi</text>'));
});
test('the options of a lane', () => {
  const options = options_of(
      first_state(), {encoding: 'rope', positions: 'randomized:unsorted', temperature: 'none', seed: 3});
  assert.equal(options.positions, 'randomized:unsorted');
  assert.equal(options.layers, '2');
  assert.ok(Object.values(options).every(value => typeof value === 'string'));
});
test('a task in plain words', () => {
  assert.equal(
      task_words({summary: 'is the number of ones odd?  1 0 1 1 -> 1', level: 'regular'}),
      'Is the number of ones odd? For example 1 0 1 1 → 1. In Chomsky’s hierarchy: regular.');
  assert.equal(
      task_words({summary: 'the input backwards  1 0 0 -> 0 0 1', level: 'context_free'}),
      'The input backwards. For example 1 0 0 → 0 0 1. In Chomsky’s hierarchy: context free.');
  assert.equal(task_words({summary: 'a task of one’s own', level: 'regular'}),
               'A task of one’s own. In Chomsky’s hierarchy: regular.');
});
test('random positions of the lecture are a rising subset, and the same each time', () => {
  const drawn = random_positions(20, 100, 5);
  assert.equal(new Set(drawn).size, 20);
  assert.ok(drawn.every((p, n) => p < 100 && (n === 0 || p > drawn[n - 1])));
  assert.deepEqual(drawn, random_positions(20, 100, 5));
});
test('half precision and back', () => {
  const numbers = [0, 1, -1, .5, 65504, 2 ** -14, 2 ** -24, -3 * 2 ** -20, 1 / 3, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1e-9];
  const back = [...from_halves(to_halves(numbers))];
  assert.deepEqual(back.slice(0, 8), numbers.slice(0, 8));
  assert.ok(Math.abs(back[8] - 1 / 3) < 1e-4);
  assert.deepEqual(back.slice(9), [1, 1 + 2 ** -9, 0]);            // ties go to the even neighbour
  assert.throws(() => to_halves([1e6]), /too large/);
});
test('a formula with the positions of a pair put in', () => {
  assert.equal(with_numbers('s_ij = m_h ( -|p_j - p_i| )', 3, 5), '. s_ij = m_h ( -|5 - 3| )');
  assert.equal(with_numbers('content alone', 3, 5), '');
});
test('models take turns: as many at once as there are cores, one fewer while something is moved', () => {
  let now = 1000, given = [];
  const turns = new Turns(2, () => now);
  const [a, b, c] = ['a', 'b', 'c'].map(name => ({take_turn: () => given.push(name)}));
  for (const engine of [a, b, c]) turns.back(engine, true);
  assert.deepEqual(given, ['a', 'b']);                                // c waits
  turns.back(b, true);
  turns.back(a, true);
  assert.deepEqual(given, ['a', 'b', 'c', 'b']);                      // b was first to ask again
  turns.moved();
  turns.back(c, true);
  assert.equal(given.length, 4);                                      // b alone computes
  turns.back(b, false);                                               // b has ended
  assert.deepEqual(given.slice(4), ['a']);
  now += 600;
  turns.back(a, true);
  assert.deepEqual(given.slice(5), ['c', 'a']);
  turns.back(c, false);
  turns.back(a, false);
  turns.back(b, true);
  assert.deepEqual(given.slice(7), ['b']);                            // no model keeps its turn forever
});

test('the lecture’s words agree with the recorded numbers', () => {
  const {state, gaps, dispersion, lanes} = recorded, far = 3 * state.train_length;
  assert.equal(state.train_length, 20);                          // "strings of up to 20 digits", 40 slots
  assert.equal(state.max_position, '400');                       // "40 of 400", "ten apart"
  const best = Math.max(...gaps.map(([, a]) => a)), lost = (best - gaps[0][1]) / best;
  assert.ok(lost > .17 && lost < .23, `${lost}`);                // "costs a fifth of the digits"
  const [plain, sharp] = dispersion.map(curve => curve.accuracy);
  assert.ok(plain > .9 && sharp < plain, `${plain} ${sharp}`);   // "right at length 60", "sharper is not better"
  const longest = dispersion[0].rows.at(-1);
  assert.ok(longest.length === 100 && longest.entropy < Math.log(200));
  const at = (lane, curve) => Lane.recorded(lane.spec, 0, lane).at(far, curve);
  for (const lane of lanes.filter(({spec}) => spec.positions === 'sequential'))
    assert.ok(at(lane) < at(lane, lane.baselines.majority));     // "these models end below it"
});
