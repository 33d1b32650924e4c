// Elements of a page, and choices and sliders that redraw a part of it.
import {escape} from './text.mjs';

const of_svg = ['svg', 'g', 'path', 'rect', 'circle', 'text', 'image', 'title'];
// Attributes: true sets one; false and undefined leave it out; onclick and the like are event listeners.
export function element(kind, attributes = {}, ...children) {
  const made = of_svg.includes(kind) ? document.createElementNS('http://www.w3.org/2000/svg', kind) :
                                       document.createElement(kind);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (typeof value === 'boolean') made.toggleAttribute(name, value);
    else if (value !== undefined) made.setAttribute(name, value);
  made.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null));
  return made;
}
export function from_html(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}
// HTML that may be wider than the window.
export const scrolled = (label, html) =>
    `<div class="scroll" tabindex="0" role="region" aria-label="${escape(label)}">${html}</div>`;
export const count = n => Array.from({length: n}, (_, i) => String(i + 1));

let groups = 0;
// Radio buttons that set chosen[key] to the index of the picked text, and draw again.
export function choice(legend, texts, chosen, key, redraw) {
  if (texts.length < 2) return '';
  const name = `${legend}-${++groups}`;
  const labels = texts.map((text, n) => {
    const input = element('input', {type: 'radio', name, value: n});
    input.checked = chosen[key] === n;
    input.addEventListener('change', () => {
      chosen[key] = n;
      redraw();
    });
    return element('label', {}, input, element('span', {}, text));
  });
  return element('fieldset', {class: 'choice'}, element('legend', {}, legend), ...labels);
}

// An input, the right answer, and a model's answer: wrong symbols are struck out, and those from `scored` on do not
// count. said: [[symbol, whether it is right], ...], shown with `gap` between the symbols.
export function answered(input, [name, expected], said, scored, gap = '') {
  const row = (name, ...content) => element('div', {}, element('dt', {}, name), element('dd', {}, ...content));
  const answer = said.map(([symbol, right], n) =>
    n >= scored ? element('span', {class: 'uncounted'}, symbol) : right ? symbol : element('s', {}, symbol));
  return element(
      'dl', {class: 'strings'}, row('input', input), row(name, expected),
      row('answer', ...answer.flatMap((symbol, n) => n && gap ? [gap, symbol] : [symbol])));
}

let plays = 0;
// A slider over the texts of `marks`, with a button that plays it to its end, from the beginning if it is at the end.
// show(n) draws for mark n; if it returns a promise, the next mark waits for it. Moving the slider stops the play.
export function player(label, marks, from, show, seconds = 8) {
  const at = element('input', {type: 'range', min: 0, max: marks.length - 1, value: from});
  const text = element('output'), button = element('button', {type: 'button'});
  let playing = 0;  // the number of the current play; 0: none
  function stand(n) {
    at.value = n;
    text.textContent = marks[n];
    at.setAttribute('aria-valuetext', `${label} ${marks[n]}`);
    return show(n);
  }
  function stop() {
    playing = 0;
    button.textContent = '▶';
    button.setAttribute('aria-label', 'play');
  }
  async function play() {
    const mine = playing = ++plays;
    button.textContent = '❚❚';
    button.setAttribute('aria-label', 'stop');
    const pause = Math.min(700, 1000 * seconds / marks.length);
    for (let n = Number(at.value) + 1 < marks.length ? Number(at.value) + 1 : 0; n < marks.length; ++n) {
      await stand(n);
      await new Promise(done => setTimeout(done, pause));
      if (playing !== mine) return;
    }
    stop();
  }
  at.addEventListener('input', () => {
    stop();
    stand(Number(at.value));
  });
  button.addEventListener('click', () => playing ? stop() : play());
  stop();
  stand(from);
  return element('div', {class: 'player'}, button, element('label', {}, label, at, text));
}
