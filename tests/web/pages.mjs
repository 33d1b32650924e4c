// The modules that draw pages, without a browser: text, scales, charts, tables.    node --test pages.mjs
import assert from 'node:assert/strict';
import test from 'node:test';

import {chart_svg, gaps} from '../../lab/page/chart.mjs';
import {cloud_svg} from '../../lab/page/inspect.mjs';
import {even_ticks, log_ticks, scale, some_of, tick_step} from '../../lab/page/scale.mjs';
import {settings, table} from '../../lab/page/table.mjs';
import {escape, fixed, formatted, number, percent, prose, signed} from '../../lab/page/text.mjs';
import {between} from '../../lab/page/theme.mjs';

test('colors lie between their stops, and markup is escaped', () => {
  assert.deepEqual(between([[0, 0, 0], [255, 255, 255]], .5), [127.5, 127.5, 127.5]);
  assert.deepEqual(between([[0, 0, 0], [16, 32, 48], [255, 255, 255]], .5), [16, 32, 48]);
  assert.deepEqual(between([[0, 0, 0], [255, 255, 255]], 7), [255, 255, 255]);
  assert.equal(escape('<"\'&>\x1b'), '&lt;&quot;&#39;&amp;&gt;␛');
});
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} and ${b}`);
const count = (text, part) => text.split(part).length - 1;

test('only the marks of prose make markup, and names are escaped', () => {
  assert.equal(prose('**Bold**, *in* `a<b`.'), '<b>Bold</b>, <i>in</i> <code>a&lt;b</code>.');
  assert.equal(
      prose('[none\\*4+alibi\\*4 \\[x=1\\]]{c1 again1} wins'),
      '<span class="c1 again1">none*4+alibi*4 [x=1]</span> wins');
  assert.equal(prose('one\\\ntwo \\`three [four] </script>'), 'one<br>two `three [four] &lt;/script&gt;');
});
test('numbers are rounded as in the program, ties to even', () => {
  assert.deepEqual([.0625, .1875, 1, .99951].map(percent), ['6.2', '18.8', '100.0', '100.0'].map(x => `${x}\u202f%`));
  assert.deepEqual([fixed(20.25, 1), fixed(5.44449, 4), fixed(3, 0)], ['20.2', '5.4445', '3']);
  assert.deepEqual([.125, -.125, -.0001].map(signed), ['+12.5', '-12.5', '0.0']);
  assert.deepEqual([.001, 10001, 2.5e6, 0, -4, 1e-5].map(number), ['0.001', '10001', '2.5e+06', '0', '-4', '1e-05']);
  assert.deepEqual([formatted(null, 'percent'), formatted(3.25, 1), formatted(.5)], ['–', '3.2', '0.5']);
});
test('ticks are 1, 2 or 5 times a power of ten apart, and whole for whole quantities', () => {
  for (const [least, step] of [[1, 1], [1.1, 2], [2, 2], [3, 5], [5, 5], [6, 10], [.03, .05]])
    near(tick_step(least), step);
  assert.deepEqual(even_ticks(-1, 1, 4), [-1, -.5, 0, .5, 1]);
  assert.deepEqual(even_ticks(1, 4, 8, true), [1, 2, 3, 4]);
  assert.deepEqual(log_ticks(.1, 2), [.1, .2, .5, 1, 2]);
  assert.deepEqual(log_ticks(.001, 10), [.001, .01, .1, 1, 10]);
  assert.deepEqual(some_of([16, 4, 8, 4, 32, 64], 3), [4, 16, 64]);
  const place = scale(1, 100, 0, 50, Math.log10);
  near(place(10), 25), near(place.inverse(25), 1);
});

const flat = [[0, .5], [4, .5]];
const chart = more => ({
  id: 'a&b', title: 'A <title>', x: 'length', y: 'share', unit: 'length', x_low: 0, x_high: 4,
  y_low: 0, y_high: 1, percent: false, log: false, doubling: false, shaded: 0,
  curves: [{name: 'one', color: 'c0', points: flat}], ...more
});
test('a chart has its title, its axes, its curves and their names', () => {
  const wide = chart_svg(chart({}), false), narrow = chart_svg(chart({}), true);
  assert.match(wide,
    /role="img" aria-labelledby="a&amp;b-wide-t a&amp;b-wide-d"><title id="a&amp;b-wide-t">A &lt;title&gt;</);
  assert.match(wide, /<desc id="a&amp;b-wide-d">one: 0.5 at length 0, 0.5 at length 4\.</);
  assert.match(wide, /<path class="line c0" d="M48 191L[\d.]+ 191"\/>/);
  assert.match(wide, />length<.*>share<.*class="name c0"[^>]*>one</s);
  assert.equal(count(narrow, 'class="name'), 0);
  assert.equal(count(wide, 'class="zone"'), 0);
});
test('a percent axis, trained lengths, and lengths that double', () => {
  const drawn = chart_svg(chart({percent: true, shaded: 2}), false);
  assert.match(drawn, />20 %</);
  assert.match(drawn, /class="trained".*>trained<.*>unseen</s);
  const below = chart_svg(chart({x_low: -4, shaded: 0}), false);
  assert.equal(count(below, 'class="zone"'), 0);
  const points = [16, 32, 64].map(x => [x, .5]);
  const doubled = chart_svg(
    chart({x_low: 16, x_high: 64, doubling: true, curves: [{name: '', color: 'c0', points}]}), true);
  assert.match(doubled, /class="line c0" d="M48 151L208 151L368 151"/);
  assert.match(doubled, />16<.*>32<.*>64</s);
});
test('a missing value breaks a line, and so does a 0 on a logarithmic axis', () => {
  const points = [[0, .5], [1, null], [2, .5], [3, .5], [4, 0]];
  const line = of => /class="line c0" d="([^"]*)"/.exec(chart_svg(chart(of), true))[1];
  assert.match(line({curves: [{name: '', color: 'c0', points}]}), /^M[^L]*M[^L]*L[^L]*L[^L]*$/);
  assert.match(line({log: true, y_low: .1, curves: [{name: '', color: 'c0', points}]}), /^M[^L]*M[^L]*L[^L]*$/);
});
test('a curve that lies on another leaves gaps for it', () => {
  const names = ['one', 'other', 'two', 'three', 'chance', 'area', 'few', 'broken'];
  const points = [flat, [[0, .5], [4, .9]], [[0, .5], [4, .502]], flat, flat, flat, [[0, .5]], [[0, .5], [4, null]]];
  const curves = names.map((name, n) =>
    ({name, color: n === 4 ? 'base' : `c${n}`, points: points[n], filled: n === 5}));
  const of = chart({curves});
  assert.deepEqual(names.map((_, n) => gaps(of, n)), ['', '', ' gaps1', ' gaps2', '', '', '', '']);
  assert.match(chart_svg(of, false), /<path class="line c2 gaps1" d/);
  const many = chart({curves: Array(6).fill({name: '', color: 'c1', points: flat})});
  assert.equal(gaps(many, 5), ' gaps3');
  const low = [[[0, .011]], [[0, .012]]].map((points, n) => ({name: '', color: `c${n}`, points}));
  assert.equal(gaps(chart({log: true, y_low: .01, curves: low}), 1), '');  // 1 of 1,000 of a linear axis
});
test('bands, faint lines, areas and baselines are drawn differently', () => {
  const curves = [
    {name: 'a', color: 'c1 again1', points: flat, behind: flat, band: [[0, .4, .6], [4, .3, .7]]},
    {name: 'b', color: 'c2', points: flat, filled: true},
    ...[0, 1].map(n => ({name: `base ${n}`, color: 'base', points: [[0, n], [4, n]]}))
  ];
  const drawn = chart_svg(chart({curves}), true);
  for (const look of ['band c1 again1', 'raw c1 again1', 'line c1 again1', 'area c2', 'line base d0', 'line base d1'])
    assert.equal(count(drawn, `class="${look}"`), 1, look);
});

test('a table formats numbers by their column, and labels them in a narrow window', () => {
  const columns = [
    {name: 'run', kind: 'text'}, {name: 'tokens', form: 0, group: 'long', full: 'long: length'},
    {name: 'score', form: 'percent', kind: 'score', group: 'long'}, {name: 'loss', form: 4}
  ];
  const rows = [
    [{text: '<a>', color: 'c1', below: 'seeds 0 to 2'}, 16, {value: .8125, low: .75, high: .875},
     {value: 5, beside: '(148)'}],
    ['b', null, {value: .5, low: null, high: null}, 1]
  ];
  const html = table({label: 'Runs & more', columns, rows});
  assert.match(html,
    /<div class="scroll" tabindex="0" role="region" aria-label="Runs &amp; more"><table class="runs">/);
  assert.match(html, /<tr><td colspan="1"><\/td><th colspan="2" scope="colgroup"><span>long<\/span><\/th><td/);
  assert.match(html,
    /<th scope="row"><i class="mark c1" aria-hidden="true"><\/i>&lt;a&gt;<small>seeds 0 to 2<\/small><\/th>/);
  assert.match(html, /<td data-name="long: length">16<\/td>/);
  assert.match(html, /class="score" data-name="score"><span>81.2\u202f%<small>75.0 to 87.5<\/small><\/span>/);
  assert.match(html, /data-name="loss">5.0000 <small>\(148\)<\/small></);
  assert.match(html, /<td data-name="long: length">–<\/td><td class="score" data-name="score">50.0\u202f%<\/td>/);
});
test('a difference has both names, its sign and its interval; bold where that excludes zero', () => {
  const columns = [{name: 'runs'}, {name: 'difference', form: 'signed'}, {name: 'interval', form: 'signed'}];
  const pair = [{text: 'a', color: 'c0'}, {text: 'b', color: 'c1'}];
  const html = table({label: '', columns, rows: [[pair, {value: .125, strong: true}, {low: -.01, high: .25}]]});
  assert.match(html, /<\/i>a − <i class="mark c1"/);
  assert.match(html, /<td class="score" data-name="difference">\+12.5<\/td><td data-name="interval">-1.0 to \+25.0</);
});
test('settings that differ stand out', () => {
  const html = settings({
    label: 'Configuration', columns: [{text: 'a', color: 'c0'}, {text: 'b', color: 'c1'}],
    parts: [{name: 'made by', rows: [['isa', 'avx2', 'avx2']]}, {name: 'configuration', rows: [['lr', '0.1', '<0.2>']]}]
  });
  assert.match(html,
    /<tr class="differs"><th scope="row">lr<\/th><td class="text">0.1<\/td><td class="text">&lt;0.2&gt;</);
  assert.match(html, /<tr><th scope="row">isa/);
  assert.equal(count(html, '<thead>'), 2);
});
test('a cloud keeps distances: both axes have one scale', () => {
  const drawn = cloud_svg(
    {label: 'Layer 1', clouds: [{color: 'c0', at: [0, 0, 2, 0, 0, 1]}, {color: 'c1', at: [2, 1]}]});
  assert.match(drawn, /class="dots c1" d="M234.0 63.0h0".*class="dots c0" d="M6.0 177.0h0M234.0 177.0h0M6.0 63.0h0"/);
});
