// The page as a whole: one view at a time, the state in the link, and the engine's lists once they are loaded.
import {dispersion_view} from './dispersion.mjs';
import {element} from '../../lab/page/element.mjs';
import {say} from './dom.mjs';
import {ask_desk} from './engine.mjs';
import {take_checkpoint} from './home.mjs';
import {inside_view} from './inside.mjs';
import {Lane} from './lane.mjs';
import {lecture_view} from './lecture.mjs';
import {begin_with, check_names, first_state, link_of, read_link, same_lanes, VIEWS} from './link.mjs';
import {own_view} from './own.mjs';
import {positions_view} from './positions.mjs';
import {race_view} from './race.mjs';
import {start_view} from './start.mjs';
import {lane_of, state_of} from './take.mjs';

const PAGES = {
  start: ['Start', start_view],
  race: ['Race', race_view],
  inside: ['Look inside', inside_view],
  dispersion: ['Dispersion', dispersion_view],
  positions: ['Positions', positions_view],
  own: ['Write your own', own_view],
  lecture: ['Lecture', lecture_view]
};
// Views that do not need the engine.
const WITHOUT_ENGINE = ['start', 'lecture'];

// The runs that `poslab web` put into the page: [{name, config, step, log, curve, baselines, checkpoint}].
const runs = JSON.parse(document.getElementById('runs').textContent);
if (runs.length)
  begin_with({...state_of(runs[0].config), view: 'race', lanes: runs.map(run => lane_of(run.config))});
const {state, problems} = read_link(location.hash);
const app = {
  state, catalog: null, snapshots: JSON.parse(document.getElementById('snapshots').textContent), start_lanes: null,
  race_lanes: null, shown: null, changed, redraw, go, recorded_state, summary
};
let write_soon;

// The state with which the recorded lanes were trained.
function recorded_state() { return {...first_state(), ...app.snapshots.state}; }
// The program's description of a lane's encoding, once its lists are loaded.
function summary({encoding}) {
  return app.catalog?.encodings.find(({name}) => name === encoding.split(/[:|&+*]/)[0])?.summary.split(';')[0] ?? '';
}
function changed() {
  clearTimeout(write_soon);
  write_soon = setTimeout(() => history.replaceState(null, '', location.href.split('#')[0] + link_of(state)), 150);
}
function go(view) {
  document.getElementById('said').classList.remove('shown');  // the message belongs to the view that is left
  state.view = view;
  changed();
  redraw();
  document.getElementById('main').focus({preventScroll: true});
  scrollTo(0, 0);
}
function redraw() {
  const main = document.getElementById('main');
  app.shown?.leave?.();
  document.body.classList.toggle('embed', state.embed);
  document.body.dataset.view = state.view;
  document.title = `${PAGES[state.view][0]} – Past the edge`;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('nav a')))
    if (link.dataset.view === state.view) {
      link.setAttribute('aria-current', 'page');
      link.parentElement.scrollLeft = link.offsetLeft - 40;   // on a narrow screen
    } else
      link.removeAttribute('aria-current');
  if (!app.catalog && !WITHOUT_ENGINE.includes(state.view)) {
    main.replaceChildren(element('p', {class: 'lead'}, app.engine_lost ?? 'The engine is being unpacked …'));
    return;
  }
  app.shown = PAGES[state.view][1](app);
  main.replaceChildren(app.shown.node);
}

for (const view of VIEWS) {
  const onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(view);
  };
  const link = element('a', {href: `#view=${view}`, 'data-view': view, onclick}, PAGES[view][0]);
  document.querySelector('nav').append(link);
}
addEventListener('hashchange', event => {
  // A pending write of changed() would restore the old link. If it already has, the new link is written again.
  clearTimeout(write_soon);
  if (location.href !== event.newURL) history.replaceState(null, '', event.newURL);
  const read = read_link(location.hash);
  Object.assign(state, read.state);
  app.race_lanes?.forEach(lane => lane.end());
  app.race_lanes = null;
  told([...read.problems, ...app.catalog ? check_names(state, app.catalog) : []]);
  if (app.catalog) wake_runs();
  redraw();
});
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => {
  event.preventDefault();
  const file = event.dataTransfer.files[0];
  if (file) take_checkpoint(app, app.shown?.lanes ?? [], file);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

// The lanes of the race are the runs unless a link has other lanes; their models are loaded a moment later.
function wake_runs() {
  if (!runs.length || !same_lanes(state.lanes, first_state().lanes)) return;
  app.race_lanes = runs.map((run, n) => Lane.of_run(run, n));
  return Promise.all(app.race_lanes.map(lane => lane.wake()));
}
function told(sentences) {
  if (sentences.length) say(sentences.join(' '), {bad: true});
}
told(problems);
redraw();
performance.mark('first drawn');
// The engine is unpacked after the first picture is drawn.
async function fetch_lists() {
  try {
    app.catalog = await ask_desk('catalog');
    performance.mark('engine ready');
    const wrong = check_names(state, app.catalog);
    if (wrong.length) told([...problems, ...wrong]), app.race_lanes = null;
    await wake_runs();
  } catch (wrong) {
    app.engine_lost = wrong.message;
    say(wrong.message, {bad: true});
  }
  if (WITHOUT_ENGINE.includes(state.view))
    app.shown.again?.();
  else
    redraw();
}
requestAnimationFrame(() => setTimeout(fetch_lists));
