// The maps of `poslab view`: tiles, which are scripts that are loaded when they are first shown, and the visible part
// of a map, on a canvas. A tile is {codes, width, height}; lab/pages/view/tiles.h defines the codes.
import {element} from './element.mjs';
import {tick_step} from './scale.mjs';
import {ramp} from './theme.mjs';

// data: the viewer's (view.mjs)
export function maps_of(data) {
  const sides = [data.slots];  // sizes of the levels, from the finest
  while (sides.at(-1) > data.overview) sides.push(Math.ceil(sides.at(-1) / 2));
  const coarsest = sides.length - 1, most_kept = 48;
  const margin = 64, edge = 14;  // pixels of a canvas for labels: above and at the left, and at the right
  const weight = code => code && 2 ** ((code - 255) / data.octave);

  // ---- Tiles
  const waiting = new Map(), kept = new Map(), overviews = new Map();
  window.poslab_tile = async (name, uri) => {
    const inflated = (await fetch(uri)).body.pipeThrough(new DecompressionStream('deflate'));
    waiting.get(name)(new Uint8Array(await new Response(inflated).arrayBuffer()));
    waiting.delete(name);
  };
  const bytes_of = (name, file) => new Promise((resolve, reject) => {
    waiting.set(name, resolve);
    const script = element('script', {src: file});
    script.addEventListener('load', () => script.remove());
    script.addEventListener("error", () => reject(new Error(`${file} is missing next to this page.`)));
    document.head.append(script);
  });
  // The coarsest level of all heads of a run at a step: a tile for each "LAYER-HEAD".
  function overview(run, step) {
    const at = `maps/${run}/${step}`, side = sides[coarsest], {layers, heads} = data.runs[run];
    if (!overviews.has(at))
      overviews.set(at, bytes_of(at, `${at}/overview.js`).then(codes => new Map(
        layers.flatMap(layer => heads.map(head => `${layer}-${head}`)).map((name, n) => [name, {
          codes: codes.subarray(n * side * side, (n + 1) * side * side),
          width: side,
          height: side
        }]))));
    return overviews.get(at);
  }
  // map: {at: "maps/RUN/STEP/LAYER-HEAD", whole: its tile of the coarsest level}. Returns a promise, which gets a
  // `tile` or an `error` when it settles; the most recent promises are kept.
  function tile_of(map, level, row, column) {
    const name = `${map.at}/${level}-${row}-${column}`;
    const found = kept.get(name) ?? bytes_of(name, `${name}.js`).then(codes => {
      const width = Math.min(data.tile, sides[level] - column * data.tile);
      return found.tile = {codes, width, height: codes.length / width};
    });
    found.catch(error => { found.error = error; });
    kept.delete(name);
    kept.set(name, found);
    if (kept.size > most_kept) kept.delete(kept.keys().next().value);
    return found;
  }
  // The code of the cell of a level that holds (query, key). Until its tile has loaded, it is undefined; the loading
  // then calls `then`. Throws if the tile cannot be loaded.
  function code_at(map, level, query, key, then) {
    const i = query >> level, j = key >> level;
    if (level === coarsest) return map.whole.codes[i * map.whole.width + j];
    const found = tile_of(map, level, Math.floor(i / data.tile), Math.floor(j / data.tile)), tile = found.tile;
    if (found.error) throw found.error;
    if (tile) return tile.codes[i % data.tile * tile.width + j % data.tile];
    found.then(then, then);
  }
  // All weights of a query, at full resolution.
  async function row_of(map, query) {
    const row = Math.floor(query / data.tile), weights = [];
    for (let column = 0; column * data.tile < data.slots; ++column) {
      const {codes, width} = coarsest ? await tile_of(map, 0, row, column) : map.whole;
      const from = query % data.tile * width;
      weights.push(...Array.from(codes.subarray(from, from + width), weight));
    }
    return weights;
  }

  // ---- Colours. Even attention gives each key 1 / slots; the logarithmic scale begins at a sixteenth of that.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const least = 1 / 16 / data.slots;
  function palette(scale, code_of_most) {
    const most = Math.max(weight(code_of_most), 2 * least);
    const colors = ramp('--sequential'), pixels = new Uint32Array(256);
    for (let code = 0; code < 256; ++code) {
      const w = weight(code);
      const share = !w ? 0 : scale === 'linear' ? w / most : Math.log(w / least) / Math.log(most / least);
      const [r, g, b] = colors[Math.round(255 * Math.max(0, Math.min(1, share)))].map(Math.round);
      pixels[code] = 255 << 24 | b << 16 | g << 8 | r;
    }
    return {pixels, name: `${scale} ${most} ${dark.matches}`};
  }
  function picture_of(tile, {pixels, name}) {
    if (tile.colors === name) return tile.picture;
    const {codes, width, height} = tile;
    tile.picture ??= element('canvas', {width, height});
    const context = tile.picture.getContext('2d'), image = context.createImageData(width, height);
    const to = new Uint32Array(image.data.buffer);
    for (let n = 0; n < codes.length; ++n) to[n] = pixels[codes[n]];
    context.putImageData(image, 0, 0);
    tile.colors = name;
    return tile.picture;
  }
  function draw_whole(canvas, tile, colors) {  // a pixel for each cell
    canvas.width = tile.width, canvas.height = tile.height;
    canvas.getContext('2d').drawImage(picture_of(tile, colors), 0, 0);
  }

  // ---- The visible part. view: {x, y, zoom}: the slot at the upper left corner, and pixels for each slot.
  // A cell of the chosen level covers at least one pixel of the screen, so that no cell is left out.
  const level_at = zoom => Math.max(0, Math.min(coarsest, Math.ceil(-Math.log2(zoom * devicePixelRatio))));

  // here: {query, key}, the cell that is read; symbols and first_output: the run's; then: called when a missing tile
  // has loaded.
  function draw(canvas, map, view, colors, {here, symbols, first_output, then}) {
    const scale = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale))
      canvas.width = Math.round(width * scale), canvas.height = Math.round(height * scale);
    const style = getComputedStyle(canvas), color = name => style.getPropertyValue(name);
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const x_of = key => margin + (key - view.x) * view.zoom, y_of = query => margin + (query - view.y) * view.zoom;
    const right = Math.min(width - edge, x_of(data.slots)), bottom = Math.min(height - 1, y_of(data.slots));
    context.save();
    context.beginPath();
    context.rect(margin, margin, right - margin, bottom - margin);
    context.clip();
    context.imageSmoothingEnabled = false;
    const place = (tile, level, row, column) => {
      const cell = 2 ** level, x = column * data.tile * cell, y = row * data.tile * cell;
      const snap = v => Math.round(v * scale) / scale;  // so that neighbours meet
      const from = [snap(x_of(x)), snap(y_of(y))];
      const to = [snap(x_of(x + tile.width * cell)), snap(y_of(y + tile.height * cell))];
      context.drawImage(picture_of(tile, colors), ...from, to[0] - from[0], to[1] - from[1]);
    };
    place(map.whole, coarsest, 0, 0);
    const level = level_at(view.zoom), across = data.tile * 2 ** level;
    for (let row = Math.floor(view.y / across); level < coarsest && y_of(row * across) < bottom; ++row)
      for (let column = Math.floor(view.x / across); x_of(column * across) < right; ++column) {
        const found = tile_of(map, level, row, column);
        if (found.tile)
          place(found.tile, level, row, column);
        else if (!found.error)
          found.then(then, then);
      }
    const line = (dashes, stroke, lines) => {
      context.setLineDash(dashes);
      context.strokeStyle = color(stroke);
      context.beginPath();
      for (const [x0, y0, x1, y1] of lines) context.moveTo(x0, y0), context.lineTo(x1, y1);
      context.stroke();
    };
    context.lineWidth = 1;
    if (first_output < data.slots)
      line([3, 3], '--soft', [[x_of(first_output), margin, x_of(first_output), bottom],
                              [margin, y_of(first_output), right, y_of(first_output)]]);
    const cell = 2 ** level, [x, y] = [x_of(here.key - here.key % cell), y_of(here.query - here.query % cell)];
    const size = Math.max(4, cell * view.zoom);
    line([1, 3], '--ink', [[margin, y + size / 2, x, y + size / 2], [x + size / 2, margin, x + size / 2, y]]);
    context.setLineDash([]);
    context.lineWidth = 1.5;
    context.strokeStyle = color('--ink');
    context.strokeRect(x, y, size, size);
    context.restore();
    context.strokeStyle = color('--faint');
    context.lineWidth = 1;
    context.strokeRect(margin - .5, margin - .5, right - margin + 1, bottom - margin + 1);
    labels(context, {view, x_of, y_of, right, bottom, symbols, color});
  }
  // Labels are tokens where a slot is wide enough for one, and numbers of slots elsewhere.
  function labels(context, {view, x_of, y_of, right, bottom, symbols, color}) {
    const said = view.zoom >= 12;
    const each = said ? 1 : tick_step(Math.max(1, 40 / view.zoom));
    const text = slot => said ? symbols[slot].slice(0, 8) : String(slot + 1);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = color('--soft');
    context.textBaseline = 'middle';
    const first = from => Math.max(0, Math.ceil((from + 1) / each) * each - 1);
    const middle = slot => slot + .5;
    for (let slot = first(view.x); slot < data.slots && x_of(middle(slot)) <= right; slot += each) {
      context.save();
      context.translate(x_of(middle(slot)), margin - 6);
      if (said) context.rotate(-Math.PI / 2);
      context.textAlign = said ? 'left' : 'center';
      context.fillText(text(slot), 0, said ? 0 : -5);
      context.restore();
    }
    context.textAlign = 'right';
    for (let slot = first(view.y); slot < data.slots && y_of(middle(slot)) <= bottom; slot += each)
      context.fillText(text(slot), margin - 7, y_of(middle(slot)));
    context.fillText('key slot →', right, said ? 7 : margin - 28);
    context.textAlign = 'left';
    context.fillText('query slot ↓', 0, margin - 11);
  }

  return {margin, edge, weight, least, dark, overview, code_at, row_of, palette, draw_whole, level_at, draw};
}
