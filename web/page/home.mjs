// Take it home: a link, the command line, checkpoints in and out, pictures, tables, and citations.
import {baseline_curves, line_of} from './card.mjs';
import {element} from '../../lab/page/element.mjs';
import {block, button, colour_of, copy, save, save_png, say} from './dom.mjs';
import {escape} from '../../lab/page/text.mjs';
import {chart_shapes, mark, svg_file} from './figures.mjs';
import {Lane} from './lane.mjs';
import {link_and_rest} from './link.mjs';
import {bibtex, curves_csv, file_name, lane_of, sources_of, state_of} from './take.mjs';

const WIDTH = 760, HEIGHT = 420;

// The commands that train the same models with the program, each into its own folder.
export function commands_of(lanes) {
  const lines = lanes.map(lane => lane.about?.command).filter(Boolean);
  return (lines.length > 1 ? lines.map((line, n) => line.replace(/ --out \S+$/, `$&-${n + 1}`)) : lines).join('\n');
}
// The lanes with curves as a table, with the baselines of each task. set: the chosen task, which is not always the task
// of each model.
export function table_of(lanes, set) {
  const drawn = lanes.filter(lane => lane.curve.length), task_of = lane => lane.config?.task ?? set;
  const grey = drawn.filter(lane => lane.baselines.chance).map(lane => [task_of(lane), lane.baselines]);
  const baselines = [...new Map(grey.reverse())].reverse();  // the first of each task
  return curves_csv(
      drawn.map(lane => ({...lane.shown, task: task_of(lane), step: lane.test.step, curve: lane.curve})),
      baselines.flatMap(([task, all]) => baseline_curves(all).map(curve => ({task, ...curve}))));
}
export const tasks_of = (lanes, set) =>
    [...new Set(lanes.filter(lane => lane.curve.length).map(lane => lane.config?.task ?? set))].join(', ') || set;

// All curves in one picture with a legend below, to be saved. The range that all models were trained on is shaded.
export function picture_of(lanes, set) {
  const drawn = lanes.filter(lane => lane.curve.length), edges = drawn.map(lane => lane.edge(set));
  const curves = drawn.map(lane => line_of(lane, lane.curve));
  const grey = baseline_curves(lanes.find(lane => lane.baselines.chance)?.baselines ?? {});
  const legend = curves.map((curve, n) => {
    const y = HEIGHT + 14 + 20 * n;
    return mark(curve.mark, 60, y, 5, curve.colour) +
        `<text x="74" y="${y + 4}" style="fill:var(--ink);font-size:13px">${escape(curve.name)}</text>`;
  });
  const shapes = chart_shapes({
    width: WIDTH, height: HEIGHT, x: [0, 5 * Math.max(...edges, edges.length ? 1 : set)], y: [0, 1], percent: true,
    x_label: 'length', y_label: '% right', shaded: Math.min(...edges, edges.length ? Infinity : set),
    curves: [...grey, ...curves]
  });
  return {shapes: shapes + legend.join(''), width: WIDTH, height: HEIGHT + 20 + 20 * curves.length};
}

export function take_home(app, lanes_of) {
  const {state} = app, tasks = () => tasks_of(lanes_of(), state.task);
  const name = ending => file_name([tasks(), ...lanes_of().map(lane => lane.name)], ending);
  const drawn = () => {
    const {shapes, width, height} = picture_of(lanes_of(), state.train_length);
    const title = `${tasks()}: accuracy by length`;
    return [svg_file(shapes, width, height, title, 'made by poslab', colour_of), width, height];
  };
  const with_model = act => async () => {
    const lane = lanes_of().find(one => one.has_model());
    if (!lane) return say('No lane has a model yet: train one first.');
    try {
      await act(lane);
    } catch (wrong) {
      say(wrong.message, {bad: true});
    }
  };
  const sources = () => sources_of(app.catalog, lanes_of().map(lane => lane.shown));
  const file = element('input', {
    type: 'file', accept: '.safetensors', class: 'file', 'aria-label': 'A checkpoint',
    onchange: () => file.files[0] && take_checkpoint(app, lanes_of(), file.files[0])
  });
  const copy_link = () => {
    const {link, left_out} = link_and_rest(state), many = left_out.length;
    return copy(location.href.split('#')[0] + link,
                many ? `The link, without ${many} of the lanes, whose names are too long for one,` :
                       'The link, which has all that is set but no trained model,');
  };
  const copy_lines = () =>
      copy(commands_of(lanes_of()), 'The command for each lane, which trains the same model with the program,');
  const save_checkpoint = async lane => {
    const name = file_name([lane.name], 'safetensors');
    save(name, await lane.engine.call('checkpoint'), 'application/octet-stream');
    say(`Saved as ${name}: the model of lane ${lanes_of().indexOf(lane) + 1}, ${lane.name}.`);
  };
  const labelled = (words, act, label) => button(words, act, {'aria-label': label});
  return element(
      'section', {class: 'take'}, element('h2', {}, 'Take it home'),
      block(
          'buttons', button('Copy a link', copy_link), button('Copy the command lines', with_model(copy_lines)),
          labelled('Checkpoint', with_model(save_checkpoint), 'Save a checkpoint'),
          labelled('SVG', () => save(name('svg'), drawn()[0], 'image/svg+xml'), 'Save the curves as SVG'),
          labelled('PNG', () => save_png(name('png'), ...drawn()), 'Save the curves as PNG'),
          labelled('CSV', () => save(name('csv'), table_of(lanes_of(), state.task), 'text/csv'),
                   'Save the curves as CSV'),
          labelled('BibTeX', () => copy(bibtex(app.catalog.version, sources()), 'The list of sources'),
                   'Copy the sources as BibTeX')),
      element('label', {class: 'drop'}, 'A checkpoint of poslab: choose it here, or drop it anywhere on this page. ' +
          'It goes into the first lane and never leaves your machine. ', file));
}

// Loads a file that was chosen or dropped. An unreadable file changes nothing.
export async function take_checkpoint(app, lanes, file) {
  const lane = lanes[0] ?? new Lane({}, 0), where = lanes.length ? 'is in the first lane' : 'can be looked into';
  const most = 256 << 20, size = (file.size / 1e6).toFixed(0);
  if (file.size > most)
    return say(`${file.name} has ${size} MB; the page accepts at most ${most >> 20} MB.`, {bad: true});
  try {
    await lane.load(new Uint8Array(await file.arrayBuffer()), file.name);
    const {config} = lane.about;
    Object.assign(lane.spec, lane_of(config));
    if (lanes.length) Object.assign(app.state, state_of(config));
    else app.kept = [lane, ...app.kept ?? []];
    app.changed();
    app.redraw();
    say(`${file.name} ${where}: ${config.task}, ${lane.name}, ${lane.about.parameters} parameters.`);
  } catch (wrong) {
    if (!lanes.length) lane.end();
    say(`${file.name} was not loaded, and nothing was changed: ${wrong.message}`, {bad: true});
  }
}
