// What only `poslab show -o` draws: the matrices of each view, with one choice of head for all.
"use strict";
(() => {
  const {data, element, short, draw_map, scale_bar, draw, choice, count} = figures;
  const chosen = {head: 0};

  function draw_view(place) {
    const {row, col, matrices} = data.views[place.dataset.view];
    place.replaceChildren(...matrices.map(({of, block, heads}) => {
      const at = Math.min(chosen.head, heads.length - 1), matrix = heads[at];
      const title = `${of}${heads.length > 1 ? `, head ${at + 1}` : ""}`;
      const name = n => block > 1 ? `${n * block} to ${n * block + block - 1}` : String(n);
      const tell = (i, j, v) => `${row} ${name(i)}, ${col} ${name(j)}: ${short(v)}${block > 1 ? " on average" : ""}.`;
      const said = element(
        "p", {class: "said", "aria-live": "polite"}, block > 1 ? `A cell is the mean of ${block} by ${block}.` : "");
      return element(
        "div", {class: "card"}, element("p", {class: "said"}, title),
        draw_map(matrix, {label: title, said, tell, block, first: 0, row, col}), scale_bar(matrix), said);
    }));
  }
  const draw_all = () => document.querySelectorAll("[data-view]").forEach(draw_view);
  const most = Math.max(1, ...data.views.flatMap(view => view.matrices.map(m => m.heads.length)));
  document.getElementById("choices").append(choice("head", count(most), chosen, "head", draw_all));
  draw(draw_all);
})();
