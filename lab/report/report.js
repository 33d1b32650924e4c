// What only the report draws: position matrices, and attention maps with a choice of layer and head.
"use strict";
(() => {
  const {data, element, short, draw_map, scale_bar, draw} = figures;

  const heading = run => element(
    "h3", {}, element("i", {class: `mark c${run.color}`, "aria-hidden": "true"}),
    data.runs.every(r => r.task === run.task) ? run.name : `${run.task.replaceAll("_", " ")}, ${run.name}`);
  const without = run => element("p", {class: "note"}, `${run.folder} has no pictures.json.`);

  function draw_positions() {
    document.getElementById("matrices").replaceChildren(...data.runs.map(run => {
      if (!run.pictures) return element("div", {class: "card"}, heading(run), without(run));
      const {matrix, reading} = run.pictures.positions;
      const said = element("p", {class: "said", "aria-live": "polite"}, reading);
      const tell = (i, j, v) => `Query slot ${i + 1}, key slot ${j + 1}: ${short(v)}.`;
      return element(
        "div", {class: "card"}, heading(run), draw_map(matrix, {label: `Position matrix of ${run.name}`, said, tell}),
        scale_bar(matrix), said);
    }));
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
    const names = (at, first) => {
      const from = first + at * block, to = Math.min(from + block, slots) - 1;
      return from === to ? name(from) : `slots ${from + 1} to ${to + 1}`;
    };
    const tell = (i, j, v) =>
      `From ${names(i, first_row)} to ${names(j, 0)}: ${short(v)}${block > 1 ? " at most" : ""}.`;
    const said = element(
      "p", {class: "said", "aria-live": "polite"},
      block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : "");
    const label = `Attention of ${run.name} at length ${example.length}, layer ${chosen.layer + 1}, ${head}`;
    return element(
      "div", {class: "card"}, title, draw_map(matrix, {label, said, tell, first_row, block, part: n, symbols}),
      scale_bar(matrix), said, string_rows(example));
  }

  function choice(name, texts, key, redraw) {
    const labels = texts.map((text, n) => {
      const input = element("input", {type: "radio", name, value: n});
      input.checked = chosen[key] === n;
      input.addEventListener("change", () => {
        chosen[key] = n;
        redraw();
      });
      return element("label", {}, input, element("span", {}, text));
    });
    return element("fieldset", {class: "choice"}, element("legend", {}, name), ...labels);
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
    const heads = Math.max(...layers.map(layer => layer.heads.length)),
          count = n => Array.from({length: n}, (_, i) => String(i + 1));
    chosen.layer = Math.min(...depths) - 1;  // the deepest that all runs have
    document.getElementById("maps").append(
      choice("layer", count(depth), "layer", draw_attention),
      choice("head", ["max", ...count(heads)], "head", draw_attention));
  }
  document.getElementById("maps").append(drawn);

  draw(() => {
    draw_positions();
    draw_attention();
  });
})();
