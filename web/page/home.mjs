// Take it home: a link, the command line, checkpoints in and out, pictures, tables, and what to cite.
import {baseline_curves, line_of} from './card.mjs';
import {button, colours, copy, element, save, save_png, say} from './dom.mjs';
import {chart_shapes, escape, mark, svg_file} from './figures.mjs';
import {Lane} from './lane.mjs';
import {link_of} from './link.mjs';
import {bibtex, curves_csv, file_name, lane_of, sources_of} from './take.mjs';

const WIDTH = 760, HEIGHT = 420;

// What trains the same models with the program.
export const commands_of = lanes => lanes.map(lane => lane.about?.command).filter(Boolean).join('\n');

// All curves in one picture with a legend below, as it is saved.
export function picture_of(lanes, edge) {
  const curves = lanes.filter(lane => lane.curve.length).map(lane => line_of(lane, lane.curve));
  const grey = baseline_curves(lanes.find(lane => lane.baselines.chance)?.baselines ?? {});
  const legend = curves.map((curve, n) => {
    const y = HEIGHT + 14 + 20 * n;
    return mark(curve.mark, 60, y, 5, curve.colour) +
        `<text x="74" y="${y + 4}" style="fill:var(--ink);font-size:13px">${escape(curve.name)}</text>`;
  });
  const shapes = chart_shapes({
    width: WIDTH,
    height: HEIGHT,
    x: [0, 5 * edge],
    y: [0, 1],
    percent: true,
    x_label: 'length',
    y_label: '% right',
    shaded: edge,
    curves: [...grey, ...curves]
  });
  return {shapes: shapes + legend.join(''), width: WIDTH, height: HEIGHT + 20 + 20 * curves.length};
}

export function take_home(app, lanes_of) {
  const {state} = app, name = ending => file_name([state.task, ...lanes_of().map(lane => lane.name)], ending);
  const drawn = () => {
    const {shapes, width, height} = picture_of(lanes_of(), state.train_length);
    return {
      text: svg_file(shapes, width, height, `${state.task}: accuracy by length`, 'made by poslab', colours()),
      width,
      height
    };
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
  const sources = () => sources_of(app.catalog?.encodings ?? [], lanes_of().map(lane => lane.shown));
  const file = element('input', {
    type: 'file',
    accept: '.safetensors',
    class: 'file',
    'aria-label': 'A checkpoint',
    onchange: () => file.files[0] && take_checkpoint(app, lanes_of(), file.files[0])
  });
  const section = element(
      'section', {class: 'take'}, element('h2', {}, 'Take it home'),
      element(
          'div', {class: 'buttons'},
          button(
              'Copy a link',
              () => copy(
                  location.href.split('#')[0] + link_of(state),
                  'The link, which has all that is set but no trained model,')),
          button(
              'Copy the command lines',
              with_model(
                  () => copy(commands_of(lanes_of()), 'What trains the same with the program, a line for each lane,'))),
          button(
              'Checkpoint',
              with_model(
                  async lane => save(
                      file_name([lane.name], 'safetensors'), await lane.engine.call('checkpoint'),
                      'application/octet-stream')),
              {'aria-label': 'Save a checkpoint'}),
          button(
              'SVG', () => save(name('svg'), drawn().text, 'image/svg+xml'), {'aria-label': 'Save the curves as SVG'}),
          button(
              'PNG',
              () => {
                const {text, width, height} = drawn();
                return save_png(name('png'), text, width, height);
              },
              {'aria-label': 'Save the curves as PNG'}),
          button(
              'CSV',
              () => save(
                  name('csv'),
                  curves_csv(
                      state.task, lanes_of().map(lane => ({...lane.shown, step: lane.test.step, curve: lane.curve})),
                      baseline_curves(lanes_of()[0]?.baselines ?? {})),
                  'text/csv'),
              {'aria-label': 'Save the curves as CSV'}),
          button(
              'BibTeX', () => copy(bibtex(app.catalog?.version ?? app.snapshots.version, sources()), 'What to cite'),
              {'aria-label': 'Copy what to cite as BibTeX'})),
      element(
          'label', {class: 'drop'},
          'A checkpoint of poslab: choose it here, or drop it anywhere on this page. It goes ' +
              'into the first lane and never leaves your machine. ',
          file));
  return section;
}

// A file that was chosen or dropped. What is at hand stays where it cannot be read.
export async function take_checkpoint(app, lanes, file) {
  const lane = lanes[0] ?? new Lane({}, 0), where = lanes.length ? 'is in the first lane' : 'can be looked into';
  const most = 256 << 20;
  if (file.size > most)
    return say(
        `${file.name} has ${(file.size / 1e6).toFixed(0)} MB; the page takes at most ${most >> 20} MB.`, {bad: true});
  try {
    await lane.load(new Uint8Array(await file.arrayBuffer()), file.name);
    const {config} = lane.about;
    Object.assign(lane.spec, lane_of(config));
    if (lanes.length) app.state.task = config.task, app.state.train_length = Number(config.train_length);
    else app.kept = [lane, ...app.kept ?? []];
    app.changed();
    app.redraw();
    say(`${file.name} ${where}: ${config.task}, ${lane.name}, ${lane.about.parameters} parameters.`);
  } catch (wrong) {
    say(`${file.name} was not taken, and nothing was changed: ${wrong.message}`, {bad: true});
  }
}
