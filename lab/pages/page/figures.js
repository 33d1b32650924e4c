// What the pages' pictures need: read-outs of the charts, and matrices, which are drawn here because their colors
// follow the theme of the reader. The page's own script, if it has one, comes after it and uses `figures`.
"use strict";
const figures = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svg_space = "http://www.w3.org/2000/svg";

  function element(kind, attributes = {}, ...children) {
    const is_svg = ["svg", "g", "path", "rect", "circle", "text", "image", "title"].includes(kind);
    const made = is_svg ? document.createElementNS(svg_space, kind) : document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const short = x => x === 0                   ? "0" :
    Math.abs(x) >= 1000 || Number.isInteger(x) ? x.toFixed(0) :
                                                 String(Number(x.toPrecision(3)));

  // The distance of ticks, as lab/pages/page/chart.cpp has it: 1, 2 or 5 times a power of ten, at least `least`.
  function tick_step(least) {
    const power = 10 ** Math.floor(Math.log10(least)), times = least / power - 1e-9;
    return power * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
  }

  // ---- Charts: the pointer or the arrow keys pick an x; the legend shows every curve's value there.
  function attach(plot) {
    const chart = data.charts.find(c => c.id === plot.dataset.chart);
    const values = [...plot.querySelectorAll(".legend .value")], where = plot.querySelector(".where");
    const xs = [...new Set(chart.curves.flatMap(c => c.points.map(p => p[0])))].sort((a, b) => a - b);
    const scale = v => chart.log ? Math.log10(v) : v;
    const along = v => chart.doubling ? Math.log2(v) : v;
    let at = -1;

    const nearest = (points, x) => points.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);
    function show(index) {
      at = Math.max(0, Math.min(xs.length - 1, index));
      const x = xs[at];
      where.textContent = `at ${chart.unit} ${x}`;
      for (const picture of plot.querySelectorAll(".chart")) {
        const {left, right, top, bottom} =
          Object.fromEntries(Object.entries(picture.dataset).map(([k, v]) => [k, Number(v)]));
        const px = v =>
            left + (along(v) - along(chart.x_low)) / (along(chart.x_high) - along(chart.x_low)) * (right - left);
        const low = scale(chart.y_low), high = scale(chart.y_high);
        const py = v => bottom - (Math.min(high, Math.max(low, scale(v))) - low) / (high - low) * (bottom - top);
        const marks = [element("path", {d: `M${px(x)} ${top}V${bottom}`})];
        chart.curves.forEach((curve, i) => {
          if (!curve.points.length) return;
          const [cx, cy] = nearest(curve.points, x);
          const beyond = x > curve.points.at(-1)[0] || x < curve.points[0][0];
          values[i].textContent = cy === null || beyond ? "–" :
            chart.percent                               ? `${(100 * cy).toFixed(1)} %` :
                                                          short(cy);
          if (cy !== null && !beyond)
            marks.push(element("circle", {cx: px(cx), cy: py(cy), r: 4, class: curve.color}));
        });
        picture.querySelector(".readout").replaceChildren(...marks);
      }
    }
    function hide() {
      at = -1;
      where.textContent = "";
      for (const value of values) value.textContent = "";
      for (const layer of plot.querySelectorAll(".readout")) layer.replaceChildren();
    }
    if (!xs.length) return;
    for (const picture of plot.querySelectorAll(".chart")) {
      picture.addEventListener("pointermove", event => {
        const box = picture.getBoundingClientRect(), unit = box.width / picture.viewBox.baseVal.width;
        const left = Number(picture.dataset.left), right = Number(picture.dataset.right);
        const low = along(chart.x_low), high = along(chart.x_high);
        const x = low + ((event.clientX - box.left) / unit - left) / (right - left) * (high - low);
        const at = nearest(xs.map((v, n) => [along(v), n]), x);
        show(at[1]);
      });
      picture.addEventListener("pointerleave", hide);
    }
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", "Chart; the left and right arrow keys read values");
    where.setAttribute("aria-live", "polite");
    plot.addEventListener("keydown", event => {
      const step =
        {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -xs.length, End: xs.length}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(at < 0 ? (step > 0 ? 0 : xs.length - 1) : at + step);
    });
    plot.addEventListener("blur", hide);
  }

  // ---- Matrices: eight bits a cell, value = low + cell / 255 (high - low); some bring their values along.
  const cells = matrix => matrix.bytes ??= Uint8Array.from(atob(matrix.cells), c => c.charCodeAt(0));
  const value = (matrix, i, j) => matrix.values?.[i * matrix.cols + j] ??
    matrix.low + cells(matrix)[i * matrix.cols + j] / 255 * (matrix.high - matrix.low);
  const two_sided = matrix => matrix.low < 0 && matrix.high > 0;

  function ramp(name) {  // 256 colors from the stops in the style sheet
    const stops = getComputedStyle(document.documentElement).getPropertyValue(name).split(",").map(text => {
      const hex = text.trim().slice(1);
      return [0, 2, 4].map(k => parseInt(hex.slice(k, k + 2), 16));
    });
    return Array.from({length: 256}, (_, i) => {
      const at = i / 255 * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
      return stops[low].map((c, k) => c + (at - low) * (stops[low + 1][k] - c));
    });
  }

  function image_of(matrix) {
    const canvas = element("canvas", {width: matrix.cols, height: matrix.rows}), context = canvas.getContext("2d");
    const pixels = context.createImageData(matrix.cols, matrix.rows),
          colors = ramp(two_sided(matrix) ? "--diverging" : "--sequential");
    const reach = Math.max(-matrix.low, matrix.high);
    cells(matrix).forEach((cell, n) => {
      const v = matrix.low + cell / 255 * (matrix.high - matrix.low);
      const color = colors[two_sided(matrix) ? Math.round((v / reach + 1) / 2 * 255) : cell];
      pixels.data.set([...color, 255], 4 * n);
    });
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  }

  // A matrix with its frame, ticks in slots, lines before slot `part`, and a sentence about the cell under the pointer
  // or the arrow keys.
  function draw_map(matrix, {
    label,
    said,
    tell,
    first_row = 0,
    block = 1,
    part = 0,
    symbols = null,
    row = "query slot",
    col = "key slot",
    first = 1
  }) {
    const side = 400, left = 40, top = 34, cell = side / Math.max(matrix.cols, matrix.rows);
    const width = cell * matrix.cols, height = cell * matrix.rows;
    const picture = element("svg", {
      class: "map",
      viewBox: `0 0 ${left + side + 4} ${top + height + 6}`,
      role: "img",
      tabindex: 0,
      "aria-label": label
    });
    picture.append(
      element("image", {href: image_of(matrix), x: left, y: top, width, height, preserveAspectRatio: "none"}),
      element("rect", {class: "frame", x: left, y: top, width, height}));
    const letters = symbols ? Math.max(...symbols.map(symbol => symbol.length)) : 0;
    const named = symbols && matrix.cols * Math.max(letters, 2) <= 64;
    const each = named ? 1 : tick_step(Math.max(1, 36 * block / cell));
    for (let slot = first ? each - 1 : 0; slot < matrix.cols * block; slot += each)
      picture.append(element(
        "text", {x: left + (slot / block + .5) * cell, y: top - 6, "text-anchor": "middle"},
        named ? symbols[slot] : String(slot + first)));
    for (let slot = Math.ceil((first_row + first) / each) * each - first; slot < first_row + matrix.rows * block;
         slot += each)
      picture.append(element(
        "text", {x: left - 7, y: top + ((slot - first_row) / block + .5) * cell + 4, "text-anchor": "end"},
        named ? symbols[slot] : String(slot + first)));
    picture.append(
      element("text", {x: left + width, y: 10, "text-anchor": "end"}, `${col} →`),
      element("text", {x: 0, y: 10}, `${row} ↓`));
    if (part > 0)
      picture.append(element("path", {class: "part", d: `M${left + part / block * cell} ${top}v${height}`}));
    if (part > first_row)
      picture.append(
        element("path", {class: "part", d: `M${left} ${top + (part - first_row) / block * cell}h${width}`}));
    const here = element("rect", {class: "cell", width: cell, height: cell, visibility: "hidden"});
    picture.append(here);

    let at = [0, 0];
    const rest = said.textContent;
    function show(i, j) {
      at = [Math.max(0, Math.min(matrix.rows - 1, i)), Math.max(0, Math.min(matrix.cols - 1, j))];
      here.setAttribute("x", left + at[1] * cell);
      here.setAttribute("y", top + at[0] * cell);
      here.setAttribute("visibility", "visible");
      said.textContent = tell(at[0], at[1], value(matrix, ...at));
    }
    const hide = () => {
      here.setAttribute("visibility", "hidden");
      said.textContent = rest;
    };
    picture.addEventListener("pointermove", event => {
      const box = picture.getBoundingClientRect(), unit = box.width / picture.viewBox.baseVal.width;
      const j = Math.floor(((event.clientX - box.left) / unit - left) / cell),
            i = Math.floor(((event.clientY - box.top) / unit - top) / cell);
      if (i < 0 || j < 0 || i >= matrix.rows || j >= matrix.cols)
        hide();
      else
        show(i, j);
    });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", hide);
    picture.addEventListener("keydown", event => {
      const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!step) return;
      event.preventDefault();
      show(at[0] + step[0], at[1] + step[1]);
    });
    return picture;
  }

  // What draw_map says of a cell of attention; one stands for `block` by `block` slots, rows from slot `first_row`.
  const tell_slots = ({first_row = 0, block, slots, name = slot => `slot ${slot + 1}`}) => (i, j, v) => {
    const names = (at, first) => {
      const from = first + at * block, to = Math.min(from + block, slots) - 1;
      return from === to ? name(from) : `slots ${from + 1} to ${to + 1}`;
    };
    return `From ${names(i, first_row)} to ${names(j, 0)}: ${short(v)}${block > 1 ? " at most" : ""}.`;
  };

  function scale_bar(matrix) {
    const reach = Math.max(-matrix.low, matrix.high), two = two_sided(matrix);
    return element(
      "div", {class: "scale"}, element("span", {}, short(two ? -reach : matrix.low)),
      element("i", {class: two ? "diverging" : "sequential"}), element("span", {}, short(two ? reach : matrix.high)));
  }

  // Radio buttons that set chosen[key] to the number of the text picked, and draw again.
  function choice(legend, texts, chosen, key, redraw) {
    if (texts.length < 2) return "";
    const name = `${legend}-${choice.count = (choice.count ?? 0) + 1}`;
    const labels = texts.map((text, n) => {
      const input = element("input", {type: "radio", name, value: n});
      input.checked = chosen[key] === n;
      input.addEventListener("change", () => {
        chosen[key] = n;
        redraw();
      });
      return element("label", {}, input, element("span", {}, text));
    });
    return element("fieldset", {class: "choice"}, element("legend", {}, legend), ...labels);
  }

  // A slider over the texts of `marks`, with a button that plays it from where it stands to its end, or anew from
  // there; show(n) draws what mark n stands for, and may be a promise, for which the next one waits. Any touch stops it.
  function player(label, marks, from, show, seconds = 8) {
    const at = element("input", {type: "range", min: 0, max: marks.length - 1, value: from});
    const text = element("output"), button = element("button", {type: "button"});
    let playing = 0;  // the number of this play, 0: none
    function stand(n) {
      at.value = n;
      text.textContent = marks[n];
      at.setAttribute("aria-valuetext", `${label} ${marks[n]}`);
      return show(n);
    }
    function stop() {
      playing = 0;
      button.textContent = "▶";
      button.setAttribute("aria-label", "play");
    }
    async function play() {
      const mine = playing = (player.plays = (player.plays ?? 0) + 1);
      button.textContent = "❚❚";
      button.setAttribute("aria-label", "stop");
      const pause = Math.min(700, 1000 * seconds / marks.length);
      for (let n = Number(at.value) + 1 < marks.length ? Number(at.value) + 1 : 0; n < marks.length; ++n) {
        await stand(n);
        await new Promise(done => setTimeout(done, pause));
        if (playing !== mine) return;
      }
      stop();
    }
    at.addEventListener("input", () => {
      stop();
      stand(Number(at.value));
    });
    button.addEventListener("click", () => playing ? stop() : play());
    stop();
    stand(from);
    return element("div", {class: "player"}, button, element("label", {}, label, at, text));
  }
  const count = n => Array.from({length: n}, (_, i) => String(i + 1));

  // ---- Maps of elements with data-maps, from {label, maps: [{title, layer, slots, part, symbols, max, heads}]}; max
  // and each of heads: {block, matrix}; symbols: of a text, its tokens. One layer and head is picked for all maps of an
  // element.
  function attach_maps(place) {
    const {label, maps} = data.maps[place.dataset.maps];
    const chosen = {layer: 0, head: 0};  // 0: all layers, the maximum over heads
    const drawn = element("div", {class: "grid"});
    const redraw = () => draw_maps(drawn, label, maps, chosen);
    place.replaceChildren(
      choice("layer", ["all", ...count(Math.max(...maps.map(map => map.layer)))], chosen, "layer", redraw),
      choice("head", ["max", ...count(Math.max(...maps.map(map => map.heads.length)))], chosen, "head", redraw), drawn);
    draw(redraw);
  }
  function draw_maps(place, label, maps, chosen) {
    const picked = maps.filter(map => !chosen.layer || map.layer === chosen.layer);
    place.replaceChildren(...picked.map(({title, slots, part, symbols, max, heads}) => {
      const {block, matrix} = chosen.head ? heads[chosen.head - 1] : max;
      if (chosen.head) title += `, head ${chosen.head}`;
      if (block > 1) title += `; a cell is the maximum over ${block} by ${block} slots`;
      const tokens = symbols?.length ? symbols : null;
      const named = slot => tokens ? `token ${slot + 1} (${tokens[slot]})` : `slot ${slot + 1}`;
      const tell = tell_slots({block, slots, name: named});
      const said = element("p", {class: "said", "aria-live": "polite"}, title);
      return element(
          'div', {class: 'card'},
          draw_map(matrix, {label: `${label}, ${title}`, said, tell, block, part, symbols: tokens}), scale_bar(matrix),
          said);
    }));
  }

  function draw(picture) {  // now, and again whenever the colors change
    picture();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", picture);
    matchMedia("print").addEventListener("change", picture);
  }
  document.querySelectorAll(".plot").forEach(attach);
  document.querySelectorAll("[data-maps]").forEach(attach_maps);
  return {data, element, short, tick_step, count, choice, player, tell_slots, ramp, draw_map, scale_bar, draw};
})();
