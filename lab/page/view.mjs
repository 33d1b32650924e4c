// The page of `poslab view`: the state of the view, which the link keeps, and the controls that change it.
import {choice, element, player} from './element.mjs';
import {maps_of} from './map.mjs';

const help = 'On the map: the arrow keys move the cell that is read, with Shift they scroll; + and − zoom, 0 shows ' +
    'the whole map. The wheel scrolls, with Ctrl it zooms; dragging scrolls. On the heads, the arrow keys choose one.';

// {runs: [{name, steps, elsewhere, layers, heads, symbols, outputs}], opens: {layer, head}, slots, tile, overview,
// octave}: lab/pages/view/tiles.h defines the last three.
export function viewer(data) {
  const {runs, slots} = data, maps = maps_of(data);
  const bar = element('div', {id: 'controls'}), place = element('div', {id: 'panes'});
  const steps = [...new Set(runs.flatMap(run => run.steps))].sort((a, b) => a - b);
  const scales = ['logarithmic', 'linear'];
  // Slots and cells count from 0, layers and heads from 1. span: slots across the shorter side of a map. left, right:
  // the indices of the shown runs; right = runs.length: no second run.
  const standard = {
    left: 0, right: Math.min(1, runs.length), step: steps.at(-1), layer: data.opens.layer, head: data.opens.head,
    scale: 0, query: slots - 1, key: 0, x: 0, y: 0, span: slots
  };
  const state = {...standard};
  let panes = [], address = '', writing;  // address: the link as last read or written; writing: the timer of a write

  // ---- The link: all that differs from the defaults. A number out of range becomes the nearest in range.
  const nearest = (list, value) => list.reduce((best, n) => Math.abs(n - value) < Math.abs(best - value) ? n : best);
  function read_link() {
    clearTimeout(writing);
    address = location.hash;
    Object.assign(state, standard);
    for (const [name, text] of new URLSearchParams(location.hash.slice(1)))
      if (name in standard && Number.isFinite(Number(text))) state[name] = Number(text);
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    state.left = within(Math.floor(state.left), 0, runs.length - 1);
    state.right = within(Math.floor(state.right), 0, runs.length);
    state.step = nearest(steps, state.step);
    state.layer = nearest(runs[state.left].layers, state.layer);
    state.head = nearest(runs[state.left].heads, state.head);
    state.scale = within(Math.floor(state.scale), 0, 1);
    for (const name of ['query', 'key']) state[name] = within(Math.floor(state[name]), 0, slots - 1);
    state.span = within(state.span, Math.min(4, slots), slots);
  }
  function write_link() {
    const kept = Object.keys(standard).filter(name => state[name] !== standard[name]);
    const link = "#" + kept.map(name => `${name}=${Number(state[name].toFixed(2))}`).join("&");
    document.getElementById('link').setAttribute('href', link);
    clearTimeout(writing);
    writing = setTimeout(() => {  // after the last change: browsers limit how often the address changes
      if (location.hash !== address) return;  // changed by hand, and about to be read
      history.replaceState(null, '', link);
      address = location.hash;
    }, 300);
  }

  // ---- Zoom and scroll, the same in all panes.
  const room = () => {
    const {clientWidth, clientHeight} = panes[0].canvas;
    return [clientWidth - maps.margin - maps.edge, clientHeight - maps.margin - 1];
  };
  const zoom = () => Math.min(...room()) / state.span;
  const cell = () => 2 ** maps.level_at(zoom());  // slots
  function scroll_to(x, y) {
    const [width, height] = room().map(pixels => pixels / zoom());
    state.x = Math.max(0, Math.min(slots - width, x));
    state.y = Math.max(0, Math.min(slots - height, y));
  }
  function zoom_by(factor, at_key = state.key, at_query = state.query) {
    const span = Math.max(Math.min(4, slots), Math.min(slots, state.span / factor)), change = span / state.span;
    state.span = span;
    scroll_to(at_key + (state.x - at_key) * change, at_query + (state.y - at_query) * change);
    show();
  }
  function read_cell(query, key) {  // also scrolls to a cell that is out of sight
    state.query = Math.max(0, Math.min(slots - 1, query)), state.key = Math.max(0, Math.min(slots - 1, key));
    const [width, height] = room().map(pixels => pixels / zoom()), size = cell();
    scroll_to(
      Math.min(state.key, Math.max(state.x, state.key + size - width)),
      Math.min(state.query, Math.max(state.y, state.query + size - height)));
    show();
  }
  const of_browser = event => event.ctrlKey || event.metaKey || event.altKey;  // the browser's keys, such as Ctrl and +
  function attach(canvas) {
    const slot_at = event => {
      const box = canvas.getBoundingClientRect(), from = maps.margin, scale = zoom();
      return [state.y + (event.clientY - box.top - from) / scale, state.x + (event.clientX - box.left - from) / scale];
    };
    let dragged = null;
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      dragged = slot_at(event);
    });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { dragged = null; });
    canvas.addEventListener('pointermove', event => {
      const [query, key] = slot_at(event);
      if (dragged)
        scroll_to(state.x + dragged[1] - key, state.y + dragged[0] - query);
      else if (query >= state.y && key >= state.x && query < slots && key < slots)
        state.query = Math.floor(query), state.key = Math.floor(key);
      show();
    });
    canvas.addEventListener('wheel', event => {
      const [query, key] = slot_at(event), before = `${state.x} ${state.y}`;
      if (event.ctrlKey)
        zoom_by(2 ** (-event.deltaY / 200), key, query);
      else
        scroll_to(state.x + event.deltaX / zoom(), state.y + event.deltaY / zoom());
      if (event.ctrlKey || before !== `${state.x} ${state.y}`) event.preventDefault();  // else the page scrolls
      show();
    }, {passive: false});
    canvas.addEventListener('keydown', event => {
      if (of_browser(event)) return;
      const arrow = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      const factor = {'+': 2, '=': 2, '-': 1 / 2, '0': 0}[event.key];
      if (arrow && event.shiftKey)
        scroll_to(state.x + arrow[1] * state.span / 8, state.y + arrow[0] * state.span / 8), show();
      else if (arrow)
        read_cell(...['query', 'key'].map((name, n) => (Math.floor(state[name] / cell()) + arrow[n]) * cell()));
      else if (factor !== undefined)
        zoom_by(factor);
      else
        return;
      event.preventDefault();
    });
  }

  // ---- A pane: the heads of a run, and the map of one of them.
  function pane_of(run) {
    const {name, layers, heads} = runs[run];
    const title = element('h3', {}), said = element('p', {class: 'said', 'aria-live': 'polite'});
    const grid = element("div", {class: "heads", role: "radiogroup", "aria-label": `Heads of ${name}`});
    grid.style.setProperty('--columns', heads.length);
    grid.append(...['head', ...heads.map(String)].map(text => element('span', {class: 'quiet'}, text)));
    const buttons = layers.flatMap(layer => {
      const row = heads.map(head => {
        const button = element('button', {type: 'button', role: 'radio'}, element('canvas'));
        button.addEventListener('click', () => choose(layer, head));
        return {layer, head, button};
      });
      grid.append(element("span", {class: "quiet"}, `layer ${layer}`), ...row.map(({button}) => button));
      return row;
    });
    grid.addEventListener('keydown', event => {
      const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads.length, ArrowDown: heads.length}[event.key];
      const to = buttons[buttons.findIndex(({button}) => button === document.activeElement) + step];
      if (step === undefined || of_browser(event)) return;
      event.preventDefault();
      if (to) choose(to.layer, to.head), to.button.focus();
    });
    const canvas = element('canvas', {
      class: 'map-canvas', tabindex: 0, role: 'application', 'aria-roledescription': 'attention map',
      'aria-describedby': 'keys'
    });
    attach(canvas);
    const most = element('ol', {}), row = element('details', {}, element('summary'), most);
    const scale = element(
      'div', {class: 'scale'}, element('span'), element('i', {class: 'sequential'}), element('span'));
    const pane = {run, title, said, buttons, canvas, row, most, scale, map: null};
    row.addEventListener('toggle', () => tell_row(pane));
    pane.root = element(
      'section', {class: 'pane', 'aria-label': name}, title, grid,
      element('div', {class: 'read'}, said, canvas, scale, row));
    return pane;
  }
  function choose(layer, head) {
    Object.assign(state, {layer, head});
    load();
  }

  // ---- The sentence below a map. A cell of several weights shows the largest.
  const number = code => code === 1 ? 'below 0.000018' : code ? maps.weight(code).toPrecision(2) : '0';
  function slots_named({symbols, outputs}, what, from, to) {
    if (to > from + 1) return `${what} slots ${from + 1} to ${to}`;
    return `${what} slot ${from + 1} (${from < slots - outputs ? symbols[from] : "answer"})`;
  }
  function tell(pane) {
    const size = cell(), run = runs[pane.run], from = name => Math.floor(state[name] / size) * size;
    const named = name => slots_named(run, name, from(name), Math.min(slots, from(name) + size));
    try {
      const code = maps.code_at(pane.map, Math.log2(size), state.query, state.key, show);
      const value = code === undefined ? '…' : number(code) + (size > 1 ? ' at most' : '');
      pane.said.textContent = `From ${named("query")} to ${named("key")}: ${value}.`;
    } catch (error) {
      pane.said.textContent = error.message;
    }
    tell_row(pane);
  }
  async function tell_row(pane) {
    const {row, most, map, run} = pane, {query} = state;
    row.firstChild.textContent = `Largest weights of query slot ${query + 1}`;
    if (!row.open || !map) return;
    const lines = await maps.row_of(map, query).then(
      weights => [...weights.keys()].filter(key => weights[key]).sort((a, b) => weights[b] - weights[a]).slice(0, 10)
        .map(key => `${slots_named(runs[run], "key", key, key + 1)}: ${weights[key].toPrecision(2)}`),
      error => [error.message]);
    if (query === state.query && map === pane.map) most.replaceChildren(...lines.map(text => element('li', {}, text)));
  }

  // ---- Drawing
  let waits = false;
  function show() {  // at the next frame
    if (!waits) requestAnimationFrame(draw);
    waits = true;
  }
  function draw() {
    waits = false;
    scroll_to(state.x, state.y);
    write_link();
    const ready = panes.filter(pane => pane.map);
    if (!ready.length || !(zoom() > 0)) return;  // a canvas may have no size yet
    const code = Math.max(...ready.map(pane => pane.map.most));
    const colors = maps.palette(scales[state.scale], code);
    for (const pane of ready) {
      const {symbols, outputs} = runs[pane.run];
      maps.draw(pane.canvas, pane.map, {x: state.x, y: state.y, zoom: zoom()}, colors, {
        here: state, symbols, first_output: slots - outputs, then: show
      });
      pane.scale.firstChild.textContent = state.scale ? '0' : maps.least.toPrecision(2);
      pane.scale.lastChild.textContent = number(code);
      tell(pane);
    }
    if (ready.length === panes.length && !performance.getEntriesByName('maps drawn').length)
      requestAnimationFrame(() => performance.mark('maps drawn'));
  }
  // Loads the maps of the step or, for a run without a checkpoint there, of its last one before the step.
  async function load() {
    const looked_at = () => JSON.stringify([state.step, state.layer, state.head]), wanted = looked_at();
    await Promise.all(panes.map(async pane => {
      const run = runs[pane.run], step = run.steps.findLast(s => s <= state.step) ?? run.steps[0];
      try {
        const all = await maps.overview(pane.run, step);
        if (wanted !== looked_at()) return;
        const at_step = run.elsewhere ? "" : ` at step ${step}`;
        pane.title.textContent = run.elsewhere ? run.name : `${run.name}, step ${step}`;
        draw_heads(pane, all);
        const whole = all.get(`${state.layer}-${state.head}`), name = `layer ${state.layer}, head ${state.head}`;
        if (!whole) throw new Error(`${run.name} has no ${name}.`);
        pane.map = {at: `maps/${pane.run}/${step}/${state.layer}-${state.head}`, whole, most: Math.max(...whole.codes)};
        pane.canvas.setAttribute("aria-label", `Attention of ${run.name}${at_step}, ${name}`);
      } catch (error) {
        if (wanted !== looked_at()) return;
        pane.map = null, pane.canvas.width = 0;
        pane.canvas.setAttribute('aria-label', error.message);
        pane.most.replaceChildren();
        pane.said.textContent = error.message;
      }
    }));
    show();
  }
  function draw_heads({buttons}, all) {
    for (const {layer, head, button} of buttons) {
      const tile = all.get(`${layer}-${head}`), most = Math.max(...tile.codes);
      const chosen = layer === state.layer && head === state.head;
      maps.draw_whole(button.firstChild, tile, maps.palette(scales[state.scale], most));
      button.setAttribute('aria-checked', chosen);
      button.setAttribute("aria-label", `layer ${layer}, head ${head}, largest weight ${number(most)}`);
      button.title = button.getAttribute('aria-label');
      button.tabIndex = chosen ? 0 : -1;
    }
  }

  // ---- The controls above the maps.
  function controls() {
    const button = (text, label, act) => {
      const made = element('button', {type: 'button', 'aria-label': label, title: label}, text);
      made.addEventListener('click', act);
      return made;
    };
    const names = runs.map(run => run.name), parts = [];
    if (runs.length > 1)
      parts.push(
        choice('left', names, state, 'left', build), choice('right', [...names, 'none'], state, 'right', build));
    if (steps.length > 1)
      parts.push(player('checkpoint of step', steps.map(String), steps.indexOf(state.step), n => {
        if (state.step === steps[n]) return;
        state.step = steps[n];
        return load();
      }));
    parts.push(choice('colors', scales, state, 'scale', load));
    parts.push(element(
      'span', {class: 'zoom', role: 'group', 'aria-label': 'Zoom'}, button('−', 'zoom out', () => zoom_by(1 / 2)),
      button('+', 'zoom in', () => zoom_by(2)), button('whole map', 'show the whole map', () => zoom_by(0))));
    parts.push(element('a', {id: 'link', href: '#'}, 'link to this view'));
    bar.replaceChildren(...parts);
  }
  function build() {
    const shown = [state.left, ...(state.right < runs.length ? [state.right] : [])];
    panes = shown.map(pane_of);
    place.className = shown.length > 1 ? 'two' : 'one';
    place.replaceChildren(...panes.map(pane => pane.root));
    load();
  }
  function begin() {
    read_link();
    controls();
    build();
  }
  addEventListener('hashchange', begin);
  addEventListener('resize', show);
  for (const media of [maps.dark, matchMedia('print')]) media.addEventListener('change', load);
  queueMicrotask(begin);  // when it is on the page
  return element('div', {class: 'viewer'}, bar, place, element('p', {class: 'note', id: 'keys'}, help));
}
