// Which trained model a view looks at: one of the lanes that have a model, or one that is trained now.
import {button, choices, element, field, say} from './dom.mjs';
import {Lane} from './lane.mjs';

export function models_of(app) {
  return [...app.race_lanes ?? [], ...app.start_lanes ?? [], ...app.kept ?? []].filter(lane => lane.has_model());
}

// use(lane): when a model is chosen, and again whenever its training is done. Without a model there is a button that
// trains one as the first screen did, with randomized positions or without.
export function model_picker(app, use) {
  const node = element('div', {class: 'settings row'});
  const specs = app.snapshots.lanes.map(({spec}) => spec).filter(spec => spec.encoding === 'rope');
  function train(spec, n) {
    const lane = new Lane({...spec}, n), shown = element('p', {class: 'note', 'aria-live': 'polite'});
    app.kept = [...app.kept ?? [], lane];
    lane.changed = important => {
      shown.textContent =
          lane.status === 'failed' ? lane.error :
                                     `${lane.name}: step ${lane.last.step} of ${lane.plan?.until ?? '…'}`;
      if (lane.status !== 'done' && lane.status !== 'failed') return;
      if (important && lane.status === 'done') say(`${lane.name} is trained.`);
      if (node.isConnected) show(lane);
    };
    lane.train({...app.recorded_state(), steps: 1200});
    node.replaceChildren(shown);
  }
  function show(chosen) {
    const all = models_of(app), lane = chosen && all.includes(chosen) ? chosen : all[0];
    const more =
        specs.map((spec, n) => button(`Train ${spec.encoding}, ${spec.positions}`, () => train(spec, n ? 3 : 1)));
    if (!lane) {
      node.replaceChildren(
          element(
              'p', {class: 'lead'},
              'There is no trained model yet. Train one here (about half a ' +
                  'minute), in the race, or drop a checkpoint on the page.'),
          ...more);
      return;
    }
    node.replaceChildren(
        field(
            'model',
            choices(
                all.map((one, n) => ({
                          name: String(n),
                          words: `${one.name}, ` +
                              `${one.about.config.task.replaceAll('_', ' ')}, ${one.last.step || one.test.step} steps`
                        })),
                String(all.indexOf(lane)), n => use(all[n]))),
        ...more);
    use(lane);
  }
  return {node, begin: () => show()};
}
