// The card of a lane: its name, its accuracy at the chosen length, its curve, and three strips that explain the curve.
// Redrawn at most once a frame.
import {element} from '../../lab/page/element.mjs';
import {block, draw_svg, say, tell, write} from './dom.mjs';
import {chart_shapes, DASHES, frame_of, mark, MARKS, percent, SIGNS, strip_shapes, upright_at} from './figures.mjs';

const WIDTH = 300, HEIGHT = 190;
const STRIPS = [['positions', 'positions'], ['distances', 'distances'], ['gaps', 'gaps between neighbours']];
// The line style of a lane in every chart.
export const line_of = ({name, number}, points) =>
    ({name, colour: `var(--c${number})`, dash: DASHES[number % 4], mark: MARKS[number % 4], points});
export const legend_of = ({name, number, colour = number}) =>
    element('span', {class: `c${colour} tag`}, `${SIGNS[number % 4]} ${name} `);
export function curves_of(lane, limit = Infinity) {
  const within = ({curve}) => curve.filter(([length]) => length <= limit), curve = line_of(lane, within(lane));
  /** @type {any[]} */
  const all = baseline_curves(lane.baselines);
  if (lane.before)
    all.push({name: `before: ${lane.before.name}`, colour: 'var(--soft)', thin: true, points: within(lane.before)});
  return curve.points.length ? [...all, curve] : all;
}
// The baselines chance, majority and content_only by length as grey lines, and a legend for them.
const BASELINES = {
  majority: ['6 4', 'the most frequent symbol of each place,'], content_only: ['2 3', 'the content alone,'],
  chance: ['9 3 2 3', 'chance.']
};
export function baseline_curves(baselines) {
  const grey = {colour: 'var(--faint)', thin: true};
  return Object.entries(BASELINES).filter(([name]) => baselines[name])
      .map(([name, [dash]]) => ({...grey, name: name.replace('_', ' '), dash, points: baselines[name]}));
}
// The legend of the strips and the grey lines, below the lanes. edge: the trained length.
export const lanes_legend = edge => element(
    'p', {class: 'note legend-strips'}, element('span', {class: 'key met'}),
    ' met in training (upper row: all values met in training; lower row: those that a string of this length needs) ',
    element('span', {class: 'key unmet'}), ' needed, but never met. ', element('b', {}, 'Bold'),
    ` is what the scheme reads. A string of ${edge} with as many slots for its answer has ${2 * edge} positions. `,
    'Values are counted one by one: a string with only small gaps may be new even if no gap is (lecture, scene 5). ',
    'Grey lines need no understanding: ',
    Object.values(BASELINES).map(([dash, words]) => {
      const line = element('span', {class: 'key', 'aria-hidden': 'true'});
      line.innerHTML = `<svg viewBox="0 0 32 8"><path d="M0 4H32" style="stroke:var(--faint);stroke-width:1.3;` +
          `stroke-dasharray:${dash}"/></svg>`;
      return [element('span', {class: 'kept'}, line, ` ${words}`), ' '];
    }));

// settings: an element below the name; controls: elements below the strips. view(): the page's current {length, limit,
// edge, longest, task, drag(length), about(lane)}; no curve is drawn beyond `limit`.
export class Card {
  #due = false;
  #drawn_length = '';
  #announced = 0;

  constructor(lane, view, settings, controls) {
    this.lane = lane;
    this.view = view;
    this.title = element('h3', {id: `lane-${lane.number}`});
    this.about = element('p', {class: 'about-lane'});
    this.score = element('output', {class: 'score'});
    this.asked = element('span', {class: 'asked'});
    this.chart = block('picture drag');
    this.status = element('p', {class: 'status'});
    this.strips = STRIPS.map(([key, words]) => {
      const picture = block('strip'), said = element('span', {class: 'share'});
      const head = block('strip-head', element('span', {class: 'what'}, words), said);
      return {key, words, picture, said, row: element('div', {class: 'strip-row', hidden: true}, head, picture)};
    });
    const symbol = element('span', {class: 'symbol', 'aria-hidden': 'true'});
    const sign = mark(MARKS[lane.number % 4], 8, 8, 5.5, `var(--c${lane.number})`);
    symbol.innerHTML = `<svg viewBox="0 0 16 16">${sign}</svg>`;
    this.node = element(
        'article', {class: 'lane', 'aria-labelledby': this.title.id}, element('header', {}, symbol, this.title),
        this.about, settings, element('p', {class: 'now'}, this.score, this.asked), this.chart,
        block('strips', this.strips.map(strip => strip.row)), this.status, block('controls', controls));
    this.#listen();
    lane.changed = important => this.draw(important);
    this.draw();
  }
  #listen() {
    const drag = event => {
      const {longest} = this.view(), edge = this.#edge(), box = this.chart.getBoundingClientRect();
      const place = (event.clientX - box.left) / box.width * WIDTH;
      const length = Math.round(frame_of(this.#chart(longest, edge)).x.inverse(place));
      this.view().drag(Math.min(longest, Math.max(1, length)));
    };
    this.chart.addEventListener('pointerdown', event => (this.chart.setPointerCapture(event.pointerId), drag(event)));
    this.chart.addEventListener('pointermove', event => event.buttons && drag(event));
  }
  // The length to which the lane's model was trained, whatever the current settings are.
  #edge() { return this.lane.edge(this.view().edge); }
  #chart(longest, edge, more = {}) {
    const size = {width: WIDTH, height: HEIGHT};
    return {...size, x: [0, longest], y: [0, 1], percent: true, x_label: 'length', shaded: edge, curves: [], ...more};
  }
  draw(important = false) {
    if (important) this.#announce();
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#draw_now();
    });
  }
  #draw_now() {
    const {lane} = this, {length, limit, longest, about, task} = this.view(), edge = this.#edge();
    write(this.title, lane.name);
    write(this.about, about(lane));
    const value = length <= limit ? lane.at(length) : NaN;
    const between = Number.isFinite(value) && !lane.tested_at(length) ? ', between two tests' : '';
    write(this.score, percent(value));
    write(this.asked, ` right at length ${length}${between}`);
    // During a drag, only the vertical line at the length is redrawn.
    const chart = this.#chart(longest, edge, {curves: curves_of(lane, limit)});
    const picture = draw_svg(
        this.chart, chart_shapes(chart) + upright_at(chart, 0), WIDTH, HEIGHT,
        `${lane.name}: accuracy by length, ${percent(value)} at length ${length}`);
    const {x} = frame_of(chart);
    picture.lastChild.setAttribute('transform', `translate(${x(length) - x(0)})`);
    write(this.status, status_of(lane, edge) + of_task(lane, task));
    this.status.classList.toggle('bad', lane.status === 'failed');
    const shown = `${length} ${lane.tests.length > 0} ${lane.status === 'recorded'} ${lane.about?.command}`;
    if (shown !== this.#drawn_length) this.#drawn_length = shown, this.#draw_strips(length);
  }
  async #draw_strips(length) {
    const seen = await this.lane.coverage(length, this.#edge());
    if (this.view().length !== length) return;
    for (const {key, words, picture, said, row} of this.strips) {
      const strip = seen?.[key], share = strip?.share, read = seen?.reads === key;
      row.classList.toggle('reads', read);
      row.hidden = !seen && row.hidden;  // the row keeps its place while the lane trains again
      if (!strip) {
        picture.replaceChildren();
        said.textContent = seen ? 'it has none' : '';
        continue;
      }
      said.textContent = Number.isFinite(share) ? share > .99995 ? 'all met' : `${percent(share)} met` : '';
      const spoken = `${words} at length ${strip.length}: ${said.textContent} in training` +
          (read ? '; this is what the scheme reads' : '');
      draw_svg(picture, strip_shapes(strip, WIDTH, 22), WIDTH, 22, spoken, 'none');
    }
  }
  #announce() {
    const {lane} = this;
    if (lane.status === 'failed') return say(`${lane.name}: ${lane.error}`, {bad: true});
    const now = performance.now();
    if (lane.status !== 'done' && now - this.#announced < 5000) return;
    this.#announced = now;
    const edge = this.#edge();
    tell(`${lane.name}, step ${lane.test.step}: ${percent(lane.at(edge))} at length ${edge}, ` +
        `${percent(lane.at(3 * edge))} at length ${3 * edge}${lane.status === 'done' ? '; training is done' : ''}`);
  }
}

// A note for a model of another task than the chosen one.
const of_task = ({about}, task) => task && about?.config && about.config.task !== task ?
    `; of ${about.config.task.replaceAll('_', ' ')}: press Train for the task above` : '';
// A note for a model that is no better than the baselines at its own length.
function not_learned(lane, edge) {
  const least = Math.max(...Object.values(lane.baselines).map(curve => lane.at(edge, curve)).filter(Number.isFinite));
  return lane.at(edge) < least + .05 ? `. Not learned: even at length ${edge} it is no better than the grey lines. ` +
      'Train longer, or take an easier task' : '';
}

export function status_of(lane, edge = 0) {
  const {status, last, speed, loss: mean_loss} = lane, left = lane.seconds_left();
  const steps = n => `${n} ${n === 1 ? 'step' : 'steps'}`;
  if (status === 'failed') return lane.error;
  if (status === 'recorded')
    return `${lane.run ? `run ${lane.run.name}, ` : ''}trained before you came: ${steps(lane.test.step)}`;
  if (status === 'starting') return 'starting …';
  if (status === 'ready') return 'not trained yet';
  const loss = Number.isFinite(mean_loss) ? `, loss ${mean_loss.toFixed(3)}` : '';
  if (lane.replayed !== null) return `replay: after ${steps(lane.test.step)}`;
  if (status === 'training')
    return `step ${last.step}${loss}, ${speed.toFixed(0)} a second` + (left > 0 ? `, ${Math.ceil(left)} s left` : '');
  if (lane.set_anew) return `trained as ${lane.name}; press Train for the present settings`;
  const done = status === 'done';
  return `${done ? 'trained' : 'paused after'} ${steps(last.step || lane.test.step)}${loss}` +
      (done ? not_learned(lane, edge) : '');
}
