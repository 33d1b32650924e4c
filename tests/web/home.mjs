// The page's texts about its models, and its downloads: links, tables, citations, commands.    node --test home.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import {commands_of, picture_of, table_of, tasks_of} from '../../web/page/home.mjs';
import {Lane, name_of, tell_apart} from '../../web/page/lane.mjs';
import {first_state, is_rate, link_and_rest, link_of, read_link} from '../../web/page/link.mjs';
import {bibtex, lane_of, more_words, options_of, set_field, state_of} from '../../web/page/take.mjs';

const ROPE = {encoding: 'rope', positions: 'sequential', temperature: 'none', seed: 1};
// A lane with a model that was trained on a task, up to a length.
function trained(spec, number, task, train_length, curve) {
  const lane = new Lane({...ROPE, ...spec}, number), config = {task, train_length: String(train_length)};
  const baselines = {chance: [[5, .5]], majority: [[5, .5]], content_only: [[5, .5]]};
  return Object.assign(
      lane, {made: {...lane.spec}, about: {config}, baselines, tests: [{step: 9, curve}], status: 'done'});
}

test('tables and titles have the task of each model, whatever the settings are now', () => {
  const pairs = trained({}, 0, 'even_pairs', 8, [[5, .9]]);
  const parity = trained({seed: 2}, 1, 'parity_check', 8, [[5, .6]]);
  const rows = table_of([new Lane({...ROPE}, 2), pairs, parity, pairs], 'bucket_sort').trim().split('\n').slice(1);
  assert.deepEqual(rows.filter(row => row.includes('rope')), [
    'even_pairs,rope,sequential,none,1,9,5,0.9', 'parity_check,rope,sequential,none,2,9,5,0.6',
    'even_pairs,rope,sequential,none,1,9,5,0.9'
  ]);
  assert.equal(rows.filter(row => row === 'even_pairs,chance,,,,,5,0.5').length, 1);
  assert.equal(rows.filter(row => row === 'parity_check,chance,,,,,5,0.5').length, 1);
  assert.ok(!rows.some(row => row.startsWith('bucket_sort')));
  assert.equal(tasks_of([pairs, parity], 'bucket_sort'), 'even_pairs, parity_check');
  assert.equal(tasks_of([new Lane({...ROPE}, 0)], 'bucket_sort'), 'bucket_sort');
});
test('“trained” is the length of the model, whatever the settings are now', () => {
  const lane = trained({}, 0, 'even_pairs', 8, [[5, .9], [40, .5]]);
  assert.equal(lane.edge(30), 8);
  assert.equal(new Lane({...ROPE}, 0).edge(30), 30);
  assert.equal(picture_of([lane], 30).shapes, picture_of([lane], 8).shapes);
});
test('each command line has a folder of its own', () => {
  const lane = {about: {command: 'poslab train --task x --out runs/page'}};
  assert.equal(commands_of([lane]), 'poslab train --task x --out runs/page');
  assert.equal(
      commands_of([lane, {}, lane]),
      'poslab train --task x --out runs/page-1\nposlab train --task x --out runs/page-2');
});
test('names distinguish lanes, and are short', () => {
  assert.equal(name_of({...ROPE, temperature: 'log_n'}), 'rope, log_n');
  const calibrated = 'calibrated:of=all ' + '1:2 '.repeat(9000);
  assert.ok(name_of({...ROPE, encoding: calibrated}).length < 70);
  const lanes = [new Lane({...ROPE}, 0), new Lane({...ROPE, seed: 2}, 1), new Lane({...ROPE, encoding: 'alibi'}, 2)];
  assert.deepEqual(tell_apart(lanes), lanes.slice(0, 2));
  assert.deepEqual(lanes.map(lane => lane.name), ['rope, seed 1', 'rope, seed 2', 'alibi']);
  lanes[1].spec.encoding = 'none';
  assert.deepEqual(tell_apart(lanes), lanes.slice(0, 2));
  assert.deepEqual(lanes.map(lane => lane.name), ['rope', 'none', 'alibi']);
});
test('a copied link can be read', () => {
  const long = {...ROPE, encoding: `calibrated:of=all ${'1:2 '.repeat(9000)}`}, other = {...ROPE, seed: 5};
  const {link, left_out} = link_and_rest({...first_state(), lanes: [long, other], length: 250, d_model: 512});
  assert.deepEqual(left_out, [long]);
  const {state, problems} = read_link(link);
  assert.deepEqual(problems, []);
  assert.deepEqual(state.lanes, [other]);
  assert.equal(state.length, 250);
  assert.equal(state.d_model, 64);                              // fields that links may not set are left out
});
test('a link keeps positions that are unsorted', () => {
  const lanes = [{...ROPE, positions: 'randomized:unsorted'}, {...ROPE}];
  assert.deepEqual(read_link(link_of({...first_state(), lanes})), {state: {...first_state(), lanes}, problems: []});
});
test('the field and the link accept the same learning rates', () => {
  for (const good of ['0.001', '1e-3', '.5', '1']) assert.ok(is_rate(good), good);
  for (const bad of ['', '1.', '1e+0', '0x1', '0', '2', '-1', 'fast']) assert.ok(!is_rate(bad), bad);
});
test('a checkpoint sets the next training, and keeps options that no field shows', () => {
  const config = {
    ...ROPE, seed: '3', task: 'even_pairs', steps: '50', layers: '3', heads: '1', d_model: '32', batch: '8', lr: '0.01',
    train_length: '10', max_position: '300', causal: 'on', dropout: '0', clip: '1', resample: 'per_layer'
  };
  const lane = lane_of(config), options = options_of({...first_state(), ...state_of(config)}, lane);
  for (const name of ['layers', 'heads', 'd_model', 'lr', 'max_position', 'causal', 'dropout', 'seed', 'resample'])
    assert.equal(options[name], config[name], name);
  const list = [{name: 'causal', default: 'off'}, {name: 'dropout', default: '0.1'}, {name: 'clip', default: '1'}];
  set_field(lane, 'positions', 'randomized');                   // options of the old positions are removed
  assert.deepEqual(lane.more, {causal: 'on', dropout: '0', clip: '1'});
  assert.equal(more_words(lane, list), 'causal on, dropout 0');
  assert.equal(more_words(ROPE, list), '');
});
test('each work is cited once, with its authors', () => {
  const keys = (...sources) => [...bibtex('1', sources).matchAll(/@misc\{(\w+),\n {2}author = \{(.*)\}/g)]
                                   .map(([, key, author]) => `${key}: ${author}`);
  for (const [source, ...wanted] of [
           ['Shaw et al. 2018; Huang et al. 2020', 'shaw2018: Shaw and others', 'huang2020: Huang and others'],
           ['bloc97 2023, Su 2023', 'bloc972023: bloc97', 'su2023: Su'],
           ['Peng et al. 2023, released code', 'peng2023: Peng and others'],
           ['poslab; after position coupling, Cho et al. 2024', 'cho2024: Cho and others'],
           ['poslab: between SHAPE and Ruoss et al. 2023', 'ruoss2023: Ruoss and others'],
           ['Chiang & Cholak 2022; Su 2021; the log rule of Chi, Fan, Rudnicky 2023', 'chiang2022: Chiang and Cholak',
            'su2021: Su', 'chi2023: Chi and Fan and Rudnicky'],
           ['Moebius RoPE 2026', 'moebiusrope2026: {Moebius RoPE}'], ['Su 2023 (KeyNorm)', 'su2023: Su'],
           ['Wennberg and Henter 2021', 'wennberg2021: Wennberg and Henter']])
    assert.deepEqual(keys(source), wanted, source);
  assert.deepEqual(keys('Shaw et al. 2018', 'Shaw et al. 2018; Huang et al. 2020').length, 2);
  assert.deepEqual(keys('Chi et al. 2023', 'Chi, Fan, Rudnicky 2023').length, 2);
  const rest = bibtex('1', ['arXiv 2511.17388', 'Llama 4', 'yours']);
  assert.ok(!rest.includes('@misc'));
  assert.ok(rest.includes('% cited by poslab without an author and a year: Llama 4'));
  assert.ok(rest.includes('arXiv 2511.17388') && !rest.includes('yours'));
});
