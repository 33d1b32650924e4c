// The engine for the page: a Worker from a Blob, whose calls are promises. The WebAssembly is unpacked and compiled
// once, and every Worker gets the compiled module.

import {relaxed_simd} from '../lab.mjs';
import {turns_here} from './turns.mjs';

const held = id => document.getElementById(id);
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

let compiled, worker_address;
// ?plain in the address turns relaxed SIMD off, for tests and comparisons.
const relaxed = () => relaxed_simd() && held('wasm-relaxed') !== null && !location.search.includes('plain');

async function compile() {
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function')
    throw new Error(
        'This browser has no WebAssembly, or is older than 2023, so nothing can be trained here. The ' +
        'curves and the lecture work; a newer Firefox, Chrome, Edge or Safari trains.');
  return WebAssembly.compile(await unpacked(held(relaxed() ? 'wasm-relaxed' : 'wasm').textContent));
}

// The error of calls to an engine that was ended on purpose.
export const CLOSED = 'This model was closed.';

export class Engine {
  #waiting = new Map();
  #events = new Map();
  #number = 0;

  // A Worker with the engine in it. Throws an Error with a sentence if the browser lacks support.
  static async start() {
    const engine = new Engine(), module = await (compiled ??= compile());
    worker_address ??= URL.createObjectURL(new Blob([held('worker').textContent], {type: 'text/javascript'}));
    engine.worker = new Worker(worker_address);
    engine.worker.onmessage = ({data}) => engine.#hear(data);
    engine.worker.onerror = event => {
      event.preventDefault();
      engine.#lost(`The engine stopped: ${event.message || 'it could not be started'}. Reload the page.`);
    };
    try {
      await engine.call('start', module);
    } catch (wrong) {
      engine.end();
      throw wrong;
    }
    return engine;
  }
  call(call, ...parts) {
    if (!this.worker) return Promise.reject(new Error(CLOSED));
    return new Promise((done, failed) => {
      this.#waiting.set(++this.#number, {done, failed});
      this.worker.postMessage({id: this.#number, call, parts});
    });
  }
  take_turn() { this.worker.postMessage({turn: true}); }
  on(event, act) { this.#events.set(event, act); }
  end() {
    this.worker?.terminate();
    this.worker = null;
    this.#events.clear();  // failures are no longer reported
    this.#lost(CLOSED);
  }
  #hear({id, value, error, event, ...said}) {
    if (event === 'turn') return turns_here().back(this, said.again);
    if (event) return void this.#events.get(event)?.({error, ...said});
    const {done, failed} = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined)
      done(value);
    else
      failed(new Error(error));
  }
  #lost(words) {
    turns_here().back(this, false);
    for (const {failed} of this.#waiting.values()) failed(new Error(words));
    this.#waiting.clear();
    this.#events.get('failed')?.({error: words});
  }
}

// The Worker for requests without a model: catalogues and position matrices. A new one replaces it if its engine stops.
let desk;
export async function ask_desk(call, ...parts) {
  const asked = desk ??= Engine.start();
  try {
    return await (await asked).call(call, ...parts);
  } catch (wrong) {
    if (/^The engine has stopped/i.test(wrong.message) && desk === asked) desk = undefined;
    throw wrong;
  }
}
