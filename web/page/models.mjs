// The choice of a trained model for a view: a lane of this page, a dropped checkpoint, or a lane whose weights were
// recorded when the page was made.
import {element} from '../../lab/page/element.mjs';
import {choices, fault, field, row} from './dom.mjs';
import {recorded_lanes} from './lane.mjs';

export function models_of(app) {
  const own = [...app.kept ?? [], ...app.race_lanes ?? [], ...app.start_lanes ?? []].filter(lane => lane.has_model());
  app.recalled ??= recorded_lanes(app.snapshots).filter((_, n) => app.snapshots.lanes[n].weights);
  return [...own, ...app.recalled];
}
// The weights of a recorded lane, two bytes a number.
function weights_of(app, {at, bytes}) {
  app.weights ??= Uint8Array.from(atob(document.getElementById('weights').textContent), c => c.charCodeAt(0));
  return app.weights.slice(at, at + bytes);
}

// use(lane): called when a model is chosen and ready. After an error, a sentence appears below the choice.
export function model_picker(app, use) {
  const node = row(), wrong = fault();
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
  const all = models_of(app), task = lane => (lane.about.config ?? app.recorded_state()).task.replaceAll('_', ' ');
  const words = lane => `${lane.name}, ${task(lane)}, ` +
      `${lane.last.step || lane.test.step} steps${lane.has_model() ? '' : ', recorded'}`;
  const names = all.map((lane, n) => ({name: String(n), words: words(lane)}));
  const choice = choices(names, '0', n => choose(all[n]));
  node.append(field('model', choice, 'train others in the race, or drop a checkpoint here'), wrong);
  setTimeout(() => choose(all[0]));                   // when the view is on the page
  return node;
}
