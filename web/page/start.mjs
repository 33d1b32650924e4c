// The first screen: four recorded lanes, a prediction, the drag past the edge, and two switches that train a lane again
// before one's eyes.
import {baseline_legend, Card} from './card.mjs';
import {element, pills, say, tell, toggle} from './dom.mjs';
import {percent} from './figures.mjs';
import {Lane} from './lane.mjs';

const GUESSES = ['none', 'one', 'two', 'three', 'all four'], FAR = 60;
const STILL = .85;  // more than the most frequent digit of each place gets

export function start_view(app) {
  const {state} = app, edge = app.recorded_state().train_length, longest = 5 * edge;
  // Past the edge nothing is drawn before someone has guessed and dragged there.
  let limit = Math.max(edge, state.length);
  const recorded = () => app.snapshots.lanes.map((record, n) => Lane.recorded({...record.spec}, n, record));
  const lanes = app.start_lanes ??= recorded(), asked_of = recorded();
  const view = () =>
      ({length: state.length, limit, edge, longest, drag: set_length, about: lane => app.summary(lane.spec)});
  const cards = lanes.map(lane => new Card(lane, view, '', switches(lane)));

  function switches(lane) {
    const retrain = what => {
      lane.name_before = lane.name;
      Object.assign(lane.spec, what);
      limit = longest;
      say(`${lane.name} trains again, from nothing. Its old curve stays as a thin dotted line.`);
      lane.train({...app.recorded_state(), length: state.length}, {compare: true});
      unsorted.hidden = lane.spec.positions !== 'randomized';
    };
    const unsorted = toggle('unsorted: shuffle them', Boolean(lane.spec.unsorted), on => retrain({unsorted: on}));
    unsorted.hidden = lane.spec.positions !== 'randomized';
    return [
      toggle(
          'randomize positions', lane.spec.positions === 'randomized',
          on => retrain({positions: on ? 'randomized' : 'sequential', unsorted: on && lane.spec.unsorted})),
      unsorted
    ];
  }

  const slider = element('input', {
    type: 'range',
    id: 'length',
    min: 1,
    max: longest,
    value: state.length,
    'aria-describedby': 'drag-help',
    oninput: () => set_length(Number(slider.value))
  });
  const shown = element('output', {for: 'length'});
  const verdict = element('p', {class: 'verdict', 'aria-live': 'polite'});
  const help = element('p', {id: 'drag-help', class: 'note'});

  function set_length(length) {
    state.length = length;
    limit = Math.max(limit, length);
    slider.value = length;
    slider.setAttribute('aria-valuetext', `length ${length}, ${length > edge ? 'past' : 'within'} the edge`);
    shown.textContent = length;
    for (const card of cards) card.draw();
    judge();
    app.changed();
  }
  function judge() {
    help.textContent = state.guess === '' ? 'First guess. Then drag, or use the arrow keys.' :
        limit < FAR                       ? `You said ${state.guess}. Now drag the length past ${edge}, to ${FAR}.` :
                                            '';
    if (limit < FAR) return void (verdict.textContent = '');
    const holding = asked_of.filter(lane => lane.at(FAR) >= STILL);  // whatever has been trained again since
    const count = GUESSES[holding.length], right = state.guess === count;
    const names = holding.map(lane => `${lane.name} (${percent(lane.at(FAR))})`).join(', ');
    const said = state.guess ? `You said ${state.guess}${right ? ', and so it is' : `; it is ${count}`}. ` :
                                                                 `At length ${FAR} it is ${count} of the four. `;
    verdict.textContent = said + (names ? `Still right there: ${names}. ` : '') +
        'The strips say why: red is what a longer string needs and training has never met. Now switch a fallen ' +
        'lane to “randomize positions” and watch it train again.';
  }

  const guess = pills(
      `How many of the four will still sort strings of length ${FAR}?`, GUESSES.map(name => ({name})), state.guess,
      value => {
        state.guess = value;
        tell(`You said ${value}.`);
        judge();
        app.changed();
      });
  const node = element(
      'section', {class: 'view start'}, element('h1', {}, 'Past the edge'),
      element(
          'p', {class: 'lead'},
          `Four small transformers have learned to sort strings of up to ${edge} digits. They ` +
              'differ in one thing: how they know where a digit stands. What happens when the strings get longer?'),
      element(
          'div', {class: 'asked-first'}, guess,
          element(
              'div', {class: 'drag-line'}, element('label', {for: 'length'}, 'Length of the strings'), slider, shown),
          help, verdict),
      element('div', {class: 'lanes'}, cards.map(card => card.node)),
      element(
          'p', {class: 'note legend-strips'}, element('span', {class: 'key met'}),
          ' met in training (upper row: all ' +
              'that it met; lower row: what a string of this length needs) ',
          element('span', {class: 'key unmet'}), ' needed, but never met. ', element('b', {}, 'Bold'),
          ' is what the scheme reads. Grey lines are what one gets without understanding: ',
          baseline_legend('by the most frequent digit of each place', 'from the content alone', 'by guessing')));
  set_length(state.length);
  return {node, lanes, again: () => cards.forEach(card => card.draw())};
}
