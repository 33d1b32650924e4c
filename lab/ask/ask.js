// What only `poslab ask -o` draws: the attention of each question, with one choice of layer and head for all.
"use strict";
(() => {
  const {data, element, short, draw_map, scale_bar, draw} = figures;
  const layers = data.questions[0].layers, chosen = {layer: layers.length - 1, head: 0};  // head 0: the maximum

  function draw_question(place) {
    const {input, expected, said, block, layers} = data.questions[place.dataset.question];
    const n = input.length, slots = n + expected.length, symbols = [...input, ...expected.map(() => "·")];
    const name = slot => slot < n ?
      `slot ${slot + 1} (${input[slot]})` :
      `answer slot ${slot - n + 1} (correct ${expected[slot - n]}, says ${said[slot - n]})`;
    const names = at => {
      const from = at * block, to = Math.min(from + block, slots) - 1;
      return from === to ? name(from) : `slots ${from + 1} to ${to + 1}`;
    };
    const tell = (i, j, v) => `From ${names(i)} to ${names(j)}: ${short(v)}${block > 1 ? " at most" : ""}.`;
    const line = element(
      "p", {class: "said", "aria-live": "polite"},
      block > 1 ? `A cell is the maximum over ${block} by ${block} slots.` : "");
    const matrix = layers[chosen.layer][chosen.head];
    const head = chosen.head ? `head ${chosen.head}` : "maximum over heads";
    const label = `Attention of layer ${chosen.layer + 1}, ${head}`;
    place.replaceChildren(element(
      "div", {class: "card"}, element("p", {class: "said"}, `${label}.`),
      draw_map(matrix, {label, said: line, tell, block, part: n, symbols}), scale_bar(matrix), line));
  }
  const draw_all = () => document.querySelectorAll("[data-question]").forEach(draw_question);

  function choice(name, texts) {
    const labels = texts.map((text, at) => {
      const input = element("input", {type: "radio", name, value: at});
      input.checked = chosen[name] === at;
      input.addEventListener("change", () => {
        chosen[name] = at;
        draw_all();
      });
      return element("label", {}, input, element("span", {}, text));
    });
    return element("fieldset", {class: "choice"}, element("legend", {}, name), ...labels);
  }
  const count = n => Array.from({length: n}, (_, at) => String(at + 1));
  document.getElementById("choices").append(
    choice("layer", count(layers.length)), choice("head", ["max", ...count(layers[0].length - 1)]));
  draw(draw_all);
})();
