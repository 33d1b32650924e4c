// Models in training take turns of about 80 ms. At most as many compute at once as there are cores, and one fewer for a
// moment after the visitor's input, so that the page stays responsive. More models would not be faster: they would take
// time from each other, and from drawing.

const MOMENT = 500;  // milliseconds

export class Turns {
  #taken = new Set();
  #asked = [];
  #moved = -Infinity;

  constructor(cores, now = () => performance.now()) {
    this.cores = cores;
    this.now = now;
  }
  moved() { this.#moved = this.now(); }
  most() { return Math.max(1, this.cores - Number(this.now() - this.#moved < MOMENT)); }
  // Called when a model begins, or ends, or has had its turn and wants another (`again`). First come, first served.
  back(engine, again) {
    this.#taken.delete(engine);
    this.#asked = this.#asked.filter(one => one !== engine);
    if (again) this.#asked.push(engine);
    while (this.#asked.length && this.#taken.size < this.most()) {
      const next = this.#asked.shift();
      this.#taken.add(next);
      next.take_turn();
    }
  }
}

// The models of this page.
let turns;
export function turns_here() {
  if (turns) return turns;
  turns = new Turns(navigator.hardwareConcurrency || 2);
  for (const kind of ['pointermove', 'input', 'keydown', 'scroll'])
    addEventListener(kind, () => turns.moved(), {passive: true, capture: true});
  return turns;
}
