// The choice of a trained model for a view: a lane of this page, a dropped checkpoint, or a lane whose weights were
// recorded when the page was made.
import {element} from '../../lab/page/element.mjs';
import {choices, field} from './dom.mjs';
import {Lane} from './lane.mjs';

// The recorded lanes with weights, as lanes without an engine yet.
function recorded_lanes(app) {
  return app.recalled ??= app.snapshots.lanes.map((record, n) => Lane.recorded({...record.spec}, n, record))
                              .filter((_, n) => app.snapshots.lanes[n].weights);
}
export function models_of(app) {
  const own = [...app.kept ?? [], ...app.race_lanes ?? [], ...app.start_lanes ?? []].filter(lane => lane.has_model());
  return [...own, ...recorded_lanes(app)];
}
// The weights of a recorded lane, two bytes a number.
function weights_of(app, {at, bytes}) {
  app.weights ??= Uint8Array.from(atob(document.getElementById('weights').textContent), c => c.charCodeAt(0));
  return app.weights.slice(at, at + bytes);
}

// use(lane): called when a model is chosen and ready. An error puts a sentence in the place of the choice.
export function model_picker(app, use) {
  const node = element('div', {class: 'settings row'}), wrong = element('p', {class: 'bad', role: 'status'});
  async function choose(lane) {
    wrong.textContent = '';
    try {
      if (!lane.has_model()) {
        const record = app.snapshots.lanes[lane.number];
        await lane.recall(app.recorded_state(), weights_of(app, record.weights), record.log.at(-1)[0]);
      }
      if (node.isConnected) use(lane);
    } catch (problem) {
      wrong.textContent = problem.message;
    }
  }
  function begin() {
    const all = models_of(app);
    const task = lane => (lane.about.config ?? app.recorded_state()).task.replaceAll('_', ' ');
    const words = lane => `${lane.name}, ${task(lane)}, ` +
        `${lane.last.step || lane.test.step} steps${lane.has_model() ? '' : ', recorded'}`;
    node.replaceChildren(
        field(
            'model', choices(all.map((lane, n) => ({name: String(n), words: words(lane)})), '0', n => choose(all[n])),
            'train others in the race, or drop a checkpoint here'),
        wrong);
    setTimeout(() => choose(all[0]));                 // when the view is on the page
  }
  return {node, begin};
}
