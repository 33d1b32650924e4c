// Browser features that TypeScript 4.8 lacks, and the function that map.mjs adds to the window for its tiles.
declare class DecompressionStream {
  constructor(format: string);
  readable: ReadableStream;
  writable: WritableStream;
}
interface Window {
  poslab_tile: (name: string, uri: string) => Promise<void>;
}
