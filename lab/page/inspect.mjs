// The parts that only `poslab inspect` draws: clouds of points, and attention with a choice of layer and head.
import {choice, count, element, from_html} from './element.mjs';
import {map_card, tell_slots} from './matrix.mjs';
import {escape, prose} from './text.mjs';
import {draw} from './theme.mjs';

const side = 240;  // of a cloud's picture

// One path for all dots of a cloud [x, y, x, y, ...]: strokes of no length, which round caps make visible. Both axes
// have the same scale, so that distances in the picture are those in the plane.
export function cloud_svg({label, clouds}) {
  const ends = k => {
    const all = clouds.flatMap(({at}) => at.filter((_, n) => n % 2 === k));
    return [Math.min(0, ...all), Math.max(0, ...all)];
  };
  const [x, y] = [ends(0), ends(1)], middle = range => (range[0] + range[1]) / 2;
  const scale = (side - 12) / Math.max(x[1] - x[0], y[1] - y[0], 1e-12);
  const places = at => at.map(
      (v, n) => (side / 2 + (n % 2 ? middle(y) - v : v - middle(x)) * scale).toFixed(1) + (n % 2 ? 'h0' : ' '));
  const dots = ({at, color}) => `<path class="dots ${color}" d="${
      places(at).map((place, n) => n % 2 ? place : `M${place}`).join('')}"/>`;
  return `<svg class="cloud" viewBox="0 0 ${side} ${side}" role="img" aria-label="${escape(label)}">` +
      `<rect class="frame" width="${side}" height="${side}"/>${clouds.toReversed().map(dots).join('')}</svg>`;
}

// {legend: [{text, color}], cards: [{label, text, clouds: [{color, at}]}], caption}
export function clouds({legend, cards, caption}) {
  const entries = legend.map(({text, color}) =>
      `<li><i class="mark ${color}" aria-hidden="true"></i><span>${escape(text)}</span></li>`);
  const drawn = cards.map(card => `<div class="card">${cloud_svg(card)}<p class="said">${prose(card.text)}</p></div>`);
  return `<figure><ul class="legend">${entries.join('')}</ul><div class="small grid">${drawn.join('')}</div>` +
      `<figcaption>${prose(caption)}</figcaption></figure>`;
}

// {title: of its run, maps: [{title, layer, slots, part, symbols, max, heads}], caption}; max and each of heads:
// {block, matrix}; symbols: a text's tokens. One layer and head is picked for all maps.
export function maps({title: run, maps: all, caption}) {
  const chosen = {layer: 0, head: 0};  // 0: all layers, the maximum over heads
  const drawn = element('div', {class: 'grid'});
  function card({title, slots, part, symbols, max, heads}) {
    const {block, matrix} = chosen.head ? heads[chosen.head - 1] : max;
    if (chosen.head) title += `, head ${chosen.head}`;
    if (block > 1) title += `; a cell is the maximum over ${block} by ${block} slots`;
    const tokens = symbols?.length ? symbols : null;
    const named = slot => tokens ? `token ${slot + 1} (${tokens[slot]})` : `slot ${slot + 1}`;
    const tell = tell_slots({block, slots, name: named});
    return map_card('', matrix, {label: `${run}, ${title}`, about: title, tell, block, part, symbols: tokens});
  }
  const redraw = () =>
      drawn.replaceChildren(...all.filter(({layer}) => !chosen.layer || layer === chosen.layer).map(card));
  draw(redraw);
  return element(
      'figure', {},
      choice('layer', ['all', ...count(Math.max(...all.map(({layer}) => layer)))], chosen, 'layer', redraw),
      choice('head', ['max', ...count(Math.max(...all.map(({heads}) => heads.length)))], chosen, 'head', redraw), drawn,
      from_html(`<figcaption>${prose(caption)}</figcaption>`));
}
