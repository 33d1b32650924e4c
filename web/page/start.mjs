// The first screen: four recorded lanes, a prediction, the drag past the edge, and two switches that train a lane
// again.
import {Card, lanes_legend} from './card.mjs';
import {choice, element} from '../../lab/page/element.mjs';
import {block, live, note, say, slider, tell, toggle, write} from './dom.mjs';
import {percent} from './figures.mjs';
import {recorded_lanes} from './lane.mjs';

const GUESSES = ['none', 'one', 'two', 'three', 'all four'], FAR = 60;
const UNSORTED = 'randomized:unsorted';
const STILL = .85;  // more than one scores with the most frequent digit of each place

// A sentence on the lanes' curves: the lowest accuracy at a trained length.
export function learned_words(lanes, edge) {
  const trained = lanes.flatMap(({curve}) => curve.filter(([length]) => length <= edge));
  const least = Math.floor(1000 * Math.min(...trained.map(([, accuracy]) => accuracy))) / 1000;
  return `Four small transformers have learned to sort strings of up to ${edge} digits from 0 to 4: at each length ` +
      `${least === 1 ? 'all' : `${percent(least)} or more`} of the digits are right.`;
}

export function start_view(app) {
  const {state} = app, edge = app.recorded_state().train_length, longest = 5 * edge;
  // Nothing is drawn past the edge until the user has guessed and dragged there.
  let limit = Math.min(longest, Math.max(edge, state.length));
  const lanes = app.start_lanes ??= recorded_lanes(app.snapshots), asked_of = recorded_lanes(app.snapshots);
  const view = () =>
      ({length: state.length, limit, edge, longest, drag: set_length, about: lane => app.summary(lane.shown)});
  const cards = lanes.map(lane => {
    const card = new Card(lane, view, '', switches(lane)), drawn = lane.changed;
    lane.changed = important => (drawn(important), important && judge());
    return card;
  });

  function switches(lane) {
    const retrain = positions => {
      lane.spec.positions = positions;
      limit = longest;
      say(`${lane.name} trains again, from the start. Its old curve stays as a thin grey line.`);
      lane.train({...app.recorded_state(), length: state.length}, {compare: true});
      unsorted.hidden = positions === 'sequential';
    };
    const switch_of = (words, is_on, on, off) => toggle(words, is_on, now => retrain(now ? on : off));
    const {positions} = lane.spec, random = positions !== 'sequential';
    const randomize = switch_of('randomize positions', random, 'randomized', 'sequential');
    const unsorted = switch_of('unsorted: shuffle them', positions === UNSORTED, UNSORTED, 'randomized');
    unsorted.hidden = !random;
    return [randomize, unsorted];
  }

  const by_length = slider(state.length, 1, longest, set_length, {id: 'length', 'aria-describedby': 'drag-help'});
  const shown = element('output', {for: 'length'});
  const verdict = live(), help = element('p', {id: 'drag-help', class: 'note'});

  function set_length(length) {
    state.length = length;
    limit = Math.max(limit, length);
    by_length.value = length;
    by_length.setAttribute('aria-valuetext', `length ${length}, ${length > edge ? 'past' : 'within'} the edge`);
    shown.textContent = length;
    for (const card of cards) card.draw();
    judge();
    app.changed();
  }
  function judge() {
    help.textContent = limit >= FAR ? '' :
        state.guess === ''          ? 'First guess. Then drag, or use the arrow keys.' :
                                      `You said ${state.guess}. Now drag the length past ${edge}, to ${FAR}.`;
    if (limit < FAR) return void (verdict.textContent = '');
    const holding = asked_of.filter(lane => lane.at(FAR) >= STILL);  // recorded lanes, even after new runs
    const count = GUESSES[holding.length], right = state.guess === count;
    const names = holding.map(lane => `${lane.name} (${percent(lane.at(FAR))})`).join(', ');
    const said = state.guess ? `You said ${state.guess}${right ? ', which is right' : `; it is ${count}`}. ` :
                               `At length ${FAR} it is ${count} of the four. `;
    write(
        verdict, said + (names ? `Still right there: ${names}. ` : '') +
            'The strips say why: red is what a longer string needs and training has never met. ' +
            (again_at(FAR) || 'Now switch a fallen lane to “randomize positions” and watch it train again.'));
  }
  // The accuracies of lanes that were trained again, compared with the most frequent digit of each place.
  function again_at(length) {
    return lanes.filter(lane => lane.status === 'done' && Number.isFinite(lane.at(length))).map(lane => {
      const plain = lane.at(length, lane.baselines.majority), value = lane.at(length);
      return `Trained again, ${lane.name} scores ${percent(value)} there, ` +
          (value < plain + .05 ? `no better than the dashed line (${percent(plain)}).` : 'well above the dashed line.');
    }).join(' ');
  }

  const asked = `How many of the four will still sort strings of length ${FAR}?`;
  const guessed = {count: GUESSES.indexOf(state.guess)};
  const guess = choice(asked, GUESSES, guessed, 'count', () => {
    state.guess = GUESSES[guessed.count];
    tell(`You said ${state.guess}.`);
    judge();
    app.changed();
  });
  const to_lecture = element(
      'a', {href: '#view=lecture', onclick: event => (event.preventDefault(), app.go('lecture'))}, 'the lecture');
  const lead = `${learned_words(asked_of, edge)} They differ in one thing: how they know where a digit stands. ` +
      'What happens when the strings get longer?';
  const about_positions = note(
      'A position is the number that a token carries: usually 0, 1, 2, … With “randomize positions” each ' +
          `string gets rising numbers at random from ${app.recorded_state().max_position}, so that short strings ` +
          'get the numbers of long ones; “unsorted” shuffles these. New to this? Begin with ',
      to_lecture, '.');
  const node = element(
      'section', {class: 'view start'},
      block(
          'two', element('div', {}, element('h1', {}, 'Past the edge'), element('p', {class: 'lead'}, lead), guess),
          element('div', {}, about_positions, help, verdict)),
      block('drag-line', element('label', {for: 'length'}, 'Length of the strings'), by_length, shown),
      block('lanes', cards.map(card => card.node)), lanes_legend(edge));
  set_length(Math.min(state.length, longest));
  // A dropped checkpoint does not join the four lanes.
  return {node, lanes: [], again: () => cards.forEach(card => card.draw())};
}
