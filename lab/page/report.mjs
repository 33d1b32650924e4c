// The parts that only the report draws: position matrices, and attention maps with a choice of layer and head.
import {choice, count, element} from './element.mjs';
import {attention_card, map_card, string_rows} from './matrix.mjs';
import {short} from './text.mjs';
import {draw} from './theme.mjs';

const heading = ({name, color}) =>
    element('h3', {}, element('i', {class: `mark ${color}`, 'aria-hidden': 'true'}), name);
const without = ({folder}) => element('p', {class: 'note'}, `${folder} has no pictures.json.`);

// {runs: [{name, color, folder, positions}]}: one choice of layer, head and time for all runs. If all layers or heads
// of a run have the same matrices, the run has them only once.
export function positions({runs}) {
  const shown = {layer: 0, head: 0, time: 0}, matrices = element('div', {class: 'grid'});
  const at = (list, n) => list[Math.min(n, list.length - 1)];
  const layers_of = run => run.positions?.layers ?? [];

  function card(run) {
    if (!run.positions) return element('div', {class: 'card'}, heading(run), without(run));
    const {layers: now, before, reading} = run.positions;
    const heads = at(shown.time && before ? before : now, shown.layer), matrix = at(heads, shown.head);
    const which = [
      ...(now.length > 1 ? [`layer ${shown.layer + 1}`] : []), ...(heads.length > 1 ? [`head ${shown.head + 1}`] : []),
      ...(before ? [shown.time ? 'before training' : 'after training'] : [])
    ].join(', ');
    const about = (which ? `${which[0].toUpperCase()}${which.slice(1)}. ` : '') + reading;
    const tell = (i, j, v) => `Query slot ${i + 1}, key slot ${j + 1}: ${short(v)}.`;
    return map_card(heading(run), matrix, {label: `Position matrix of ${run.name} ${which}`, about, tell});
  }
  const redraw = () => matrices.replaceChildren(...runs.map(card));
  const heads = Math.max(...runs.flatMap(run => layers_of(run).map(layer => layer.length)));
  draw(redraw);
  return element(
      'div', {class: 'drawing'},
      choice('layer', count(Math.max(...runs.map(run => layers_of(run).length))), shown, 'layer', redraw),
      choice('head', count(Math.max(0, heads)), shown, 'head', redraw),
      choice('training', runs.some(run => run.positions?.before) ? ['after', 'before'] : [], shown, 'time', redraw),
      matrices);
}

// A string's attention in one layer; head 0: the maximum over heads.
function example_card(run, example, chosen) {
  const {expected, predicted, counted} = example;
  const right = predicted.slice(0, counted).filter((symbol, o) => symbol === expected[o]).length;
  const title = element('p', {class: 'said'}, `Length ${example.length}, ${example.trained ? 'trained' : 'unseen'}: ${
      right} of ${counted} slots right.`);
  return attention_card(
    title, example, chosen, `Attention of ${run.name} at length ${example.length}, `, string_rows(example));
}

// {runs: [{name, color, folder, examples}]}: one choice of layer and head for all runs and lengths.
export function attention({runs}) {
  const examples = runs.flatMap(run => run.examples ?? []), depths = examples.map(({layers}) => layers.length);
  const chosen = {layer: Math.min(...depths) - 1, head: 0};  // the deepest layer that all runs have
  const drawn = element('div');
  const redraw = () => drawn.replaceChildren(...runs.map(run => element(
      'div', {class: 'pair'}, heading(run), run.examples ?
          element('div', {class: 'grid'}, ...run.examples.map(example => example_card(run, example, chosen))) :
          without(run))));
  const heads = Math.max(0, ...examples.flatMap(({layers}) => layers.map(layer => layer.heads.length)));
  draw(redraw);
  return element(
      'div', {class: 'drawing'}, choice('layer', count(Math.max(0, ...depths)), chosen, 'layer', redraw),
      choice('head', heads ? ['max', ...count(heads)] : [], chosen, 'head', redraw), drawn);
}
