// What only `poslab ask -o` draws: the attention of each question, with one choice of layer and head for all.
"use strict";
(() => {
  const {data, element, count, choice, tell_slots, draw_map, scale_bar, draw} = figures;
  const layers = data.questions[0].layers, chosen = {layer: layers.length - 1, head: 0};  // head 0: the maximum

  function draw_question(place) {
    const {input, expected, said, block, layers} = data.questions[place.dataset.question];
    const n = input.length, slots = n + expected.length, symbols = [...input, ...expected.map(() => "·")];
    const name = slot => slot < n ?
      `slot ${slot + 1} (${input[slot]})` :
      `answer slot ${slot - n + 1} (correct ${expected[slot - n]}, says ${said[slot - n]})`;
    const tell = tell_slots({block, slots, name});
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

  document.getElementById("choices").append(
    choice("layer", count(layers.length), chosen, "layer", draw_all),
    choice("head", ["max", ...count(layers[0].length - 1)], chosen, "head", draw_all));
  draw(draw_all);
})();
