// What only the report draws: position matrices, and attention maps with a choice of layer and head.
"use strict";
(() => {
  const {data, element, short, count, choice, tell_slots, draw_map, scale_bar, draw} = figures;

  const heading = run => element(
    "h3", {}, element("i", {class: `mark ${run.color}`, "aria-hidden": "true"}),
    data.runs.every(r => r.task === run.task) ? run.name : `${run.task.replaceAll("_", " ")}, ${run.name}`);
  const without = run => element("p", {class: "note"}, `${run.folder} has no pictures.json.`);

  // ---- Position matrices: one choice of layer, head and time for all runs. Where all layers or heads of a run are
  // alike, it has one for all of them.
  const shown = {layer: 0, head: 0, time: 0};
  const matrices = document.createElement("div");
  matrices.className = "grid";
  const of_run = run => run.pictures ? run.pictures.positions : {layers: []};
  const layers_of = positions => positions.layers;
  const at = (list, n) => list[Math.min(n, list.length - 1)];

  function draw_positions() {
    matrices.replaceChildren(...data.runs.map(run => {
      if (!run.pictures) return element("div", {class: "card"}, heading(run), without(run));
      const positions = of_run(run), now = layers_of(positions);
      const layers = shown.time && positions.before ? positions.before : now;
      const heads = at(layers, shown.layer), matrix = at(heads, shown.head);
      const which = [
        ...(now.length > 1 ? [`layer ${shown.layer + 1}`] : []), ...(heads.length > 1 ? [`head ${shown.head + 1}`] : []),
        ...(positions.before ? [shown.time ? "before training" : "after training"] : [])
      ].join(", ");
      const said = element("p", {class: "said", "aria-live": "polite"},
        (which ? `${which[0].toUpperCase()}${which.slice(1)}. ` : "") + positions.reading);
      const tell = (i, j, v) => `Query slot ${i + 1}, key slot ${j + 1}: ${short(v)}.`;
      return element(
        "div", {class: "card"}, heading(run),
        draw_map(matrix, {label: `Position matrix of ${run.name} ${which}`, said, tell}), scale_bar(matrix), said);
    }));
  }
  {
    const all = data.runs.map(of_run), depth = Math.max(...all.map(p => layers_of(p).length)),
          heads = Math.max(...all.flatMap(p => layers_of(p).map(layer => layer.length)));
    const place = document.getElementById("matrices");
    if (depth > 1) place.append(choice("layer", count(depth), shown, "layer", draw_positions));
    if (heads > 1) place.append(choice("head", count(heads), shown, "head", draw_positions));
    if (all.some(p => p.before)) place.append(choice("training", ["after", "before"], shown, "time", draw_positions));
    place.append(matrices);
  }

  // ---- Attention: one choice of layer and head for all runs and lengths.
  const chosen = {layer: 0, head: 0};  // head 0: the maximum over heads

  function string_rows(example) {
    const row = (name, ...content) => element("div", {}, element("dt", {}, name), element("dd", {}, ...content));
    const wrong = example.predicted.map(
      (symbol, o) => o >= example.counted ? element("span", {class: "uncounted"}, symbol) :
        symbol === example.expected[o]    ? symbol :
                                            element("s", {}, symbol));
    const gap = [...example.input, ...example.expected].some(symbol => symbol.length > 1) ? " " : "";
    return element(
      "dl", {class: "strings"}, row("input", example.input.join(gap)), row("expected", example.expected.join(gap)),
      row("answer", ...wrong.flatMap((symbol, o) => o ? [gap, symbol] : [symbol])));
  }

  function draw_example(run, example) {
    const layer = example.layers[chosen.layer],
          matrix = layer && (chosen.head === 0 ? layer.max : layer.heads[chosen.head - 1]);
    const right =
      example.predicted.slice(0, example.counted).filter((symbol, o) => symbol === example.expected[o]).length;
    const head = chosen.head ? `head ${chosen.head}` : "maximum over heads";
    const title = element(
      "p", {class: "said"},
      `Length ${example.length}, ${example.trained ? "trained" : "unseen"}: ${right} of ${
        example.counted} slots right.`);
    if (!matrix)
      return element(
        "div", {class: "card"}, title, element("p", {class: "note"}, "This run has no such layer or head."));
    const n = example.input.length, slots = n + example.expected.length, block = example.block,
          first_row = slots - example.queries;
    const symbols = [...example.input, ...example.expected.map(() => "·")];
    const name = slot => slot < n ?
      `slot ${slot + 1} (${symbols[slot]})` :
      `answer slot ${slot - n + 1} (expected ${example.expected[slot - n]}, says ${example.predicted[slot - n]})`;
    const tell = tell_slots({first_row, block, slots, name});
    const said = element(
      "p", {class: "said", "aria-live": "polite"},
      block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : "");
    const label = `Attention of ${run.name} at length ${example.length}, layer ${chosen.layer + 1}, ${head}`;
    return element(
      "div", {class: "card"}, title, draw_map(matrix, {label, said, tell, first_row, block, part: n, symbols}),
      scale_bar(matrix), said, string_rows(example));
  }

  const drawn = element("div");
  function draw_attention() {
    drawn.replaceChildren(...data.runs.map(
      run => element(
        "div", {class: "pair"}, heading(run),
        run.pictures ?
          element("div", {class: "grid"}, ...run.pictures.examples.map(example => draw_example(run, example))) :
          without(run))));
  }
  const layers = data.runs.flatMap(run => run.pictures ? run.pictures.examples.flatMap(example => example.layers) : []);
  if (layers.length) {
    const depths =
      data.runs.flatMap(run => run.pictures ? run.pictures.examples.map(example => example.layers.length) : []);
    const depth = Math.max(...depths);
    const heads = Math.max(...layers.map(layer => layer.heads.length));
    chosen.layer = Math.min(...depths) - 1;  // the deepest that all runs have
    document.getElementById("maps").append(
      choice("layer", count(depth), chosen, "layer", draw_attention),
      choice("head", ["max", ...count(heads)], chosen, "head", draw_attention));
  }
  document.getElementById("maps").append(drawn);

  draw(() => {
    draw_positions();
    draw_attention();
  });
})();
