// Dispersion: the more keys, the flatter attention. A temperature below 1 sharpens it; aligning finds a temperature.
import {element} from '../../lab/page/element.mjs';
import {block, button, draw_chart, field, figure, is_narrow, live, note, number, row, say, slider,
        view_of} from './dom.mjs';
import {short} from '../../lab/page/text.mjs';
import {legend_of, line_of} from './card.mjs';
import {percent} from './figures.mjs';
import {dispersion_lengths} from './lane.mjs';
import {model_picker} from './models.mjs';

const size = () => is_narrow() ? {width: 300, height: 200} : {width: 440, height: 260};
export const MEASURES = {largest: 'Largest weight of a row', entropy: 'Entropy of a row, in nats'};

// curves: [{name, rows, colour: a number, by default its index}]; shape: {width, height, large} of the chart
export function dispersion_chart(holder, measure, curves, edge, shape = size()) {
  const all = curves.flatMap(curve => curve.rows.map(row => row[measure])).filter(Number.isFinite);
  const high = Math.max(...all, 1e-9) * 1.08, longest = Math.max(...curves.flatMap(c => c.rows.map(row => row.length)));
  const lines = curves.map(({name, rows, colour}, n) => ({
    ...line_of({name, number: n}, rows.map(row => [row.length, row[measure]])), colour: `var(--c${colour ?? n})`
  }));
  const chart = {x: [0, longest], y: [0, high], x_label: 'length', shaded: edge, curves: lines, ...shape};
  const ends = ({name, rows}) => `${name}: ${short(rows[0][measure])} to ${short(rows.at(-1)[measure])}`;
  draw_chart(holder, chart, `${MEASURES[measure]}, by length: ${curves.map(ends).join('; ')}`);
}
export const dispersion_legend = curves => curves.map((curve, number) => legend_of({number, ...curve}));

export function dispersion_view(app) {
  const {state} = app, curves = new Map();
  let lane = null, busy = Promise.resolve(), tau = 1;
  const pictures = {largest: block('picture'), entropy: block('picture')};
  const said = live(), legend = note(), shown = element('output', {}, '1.00');
  const set_tau = value => {
    tau = value / 100;
    shown.textContent = tau.toFixed(2);
  };
  const sharper = slider(100, 30, 150, set_tau, {onchange: () => measure(`temperature ${tau.toFixed(2)}`, tau)});
  const edge = () => Number(lane.about.config.train_length);
  const length = number(60, 2, 150);

  function draw() {
    const list = [...curves].map(([name, rows]) => ({name, rows}));
    for (const [measure, picture] of Object.entries(pictures)) dispersion_chart(picture, measure, list, edge());
    legend.replaceChildren(...dispersion_legend(list));
  }
  // The accuracy at a length. temperature: the model's own by default.
  const accuracy_at = async (model, length, temperature) =>
      (await model.engine.call('test', {lengths: [length], strings: 32, temperature}))[0].accuracy;
  // There is one request at a time; besides the plain model, at most two others are drawn.
  function measure(name, temperature) {
    const mine = lane;
    busy = busy.then(async () => {
      if (lane !== mine) return;
      try {
        said.textContent = 'measuring …';
        const lengths = dispersion_lengths(edge()), far = Number(length.value);
        const room = await mine.engine.call('fitting', [...new Set([...lengths, far])]);
        const rows = await mine.engine.call('dispersion', lengths.filter(n => room.includes(n)), temperature);
        const tested = room.includes(far) ? await accuracy_at(mine, far, temperature) : null;
        if (lane !== mine) return;  // another model was chosen in the meantime
        const names = [...curves.keys()].filter(one => one !== 'as trained' && one !== name);
        if (names.length > 1) curves.delete(names[0]);
        curves.delete(name);
        curves.set(name, rows);
        const at = rows.find(row => row.length >= edge()), last = rows.at(-1);
        said.textContent = `${name}: the largest weight of a row is ${percent(at.largest)} on average at length ` +
            `${at.length}, and ${percent(last.largest)} at length ${last.length}. ` +
            (tested === null ? `This model has no positions for length ${far}.` :
                               `Accuracy at length ${far}: ${percent(tested)}.`);
        draw();
      } catch (wrong) {
        if (lane === mine) said.textContent = wrong.message;
      }
    });
    return busy;
  }
  async function align() {
    const long = Number(length.value), lane_then = lane;
    if (long <= edge()) return say(`Align needs a length above ${edge()}, the length this model was trained to.`);
    said.textContent = 'trying 11 temperatures …';
    try {
      const found = await lane_then.engine.call('align', long);
      const before = await accuracy_at(lane_then, long, 1);
      const after = await accuracy_at(lane_then, long, found.temperature);
      if (lane !== lane_then) return;
      set_tau(sharper.value = Math.round(100 * found.temperature));
      await measure(`aligned at ${long}: ${found.temperature.toFixed(2)}`, found.temperature);
      if (lane !== lane_then) return;
      said.textContent =
          `At length ${long}, temperature ${found.temperature.toFixed(2)} brings the largest weight from ` +
          `${percent(found.before.largest)} to ${percent(found.after.largest)}; at length ${edge()} it is ` +
          `${percent(found.target.largest)}. Accuracy at length ${long}: ${percent(before)} before, ` +
          `${percent(after)} after.` +
          (found.temperature <= found.least ? ` No lower temperature than ${found.least.toFixed(2)} was tried.` : '');
    } catch (wrong) {
      if (lane === lane_then) said.textContent = wrong.message;
    }
  }
  const panel = element(
      'div', {hidden: true}, said,
      block('two', Object.entries(pictures).map(([measure, picture]) => figure(MEASURES[measure], picture))), legend,
      row(field('temperature', sharper, 'below 1 attention is sharper'), shown, field('align at length', length),
          button('Align', align, {class: 'main'})));
  const picker = model_picker(app, chosen => {
    lane = chosen;
    curves.clear();
    length.value = 3 * edge();
    panel.hidden = false;
    measure('as trained');
  });
  const node = view_of(
      'dispersion', 'Dispersion',
      'A row of attention weights sums to 1: with more keys each gets less, and a key that should stand out ' +
          'may drown. Dividing all logits by a temperature below 1 makes attention sharper again. Whether the ' +
          'answers then get better is another question, so the accuracy is shown next to it.',
      picker, panel);
  return {node, lanes: []};
}
