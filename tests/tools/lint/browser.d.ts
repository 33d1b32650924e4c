// What browsers have and TypeScript 4.8 does not know, and what map.mjs hangs into the window for its tiles.
declare class DecompressionStream {
  constructor(format: string);
  readable: ReadableStream;
  writable: WritableStream;
}
interface Window {
  poslab_tile: (name: string, uri: string) => Promise<void>;
}
