// A headless Chromium that runs our functions in a page, by DevTools' protocol over two pipes, without a library.
//
//   const browser = await Browser.start(folder);              // a page that a local server serves from this folder
//   await browser.run(async (x) => x + 1, 1);                 // 2, computed in the page
//   await browser.stop();
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const types = { '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };
const empty_page = '<!doctype html><title>poslab</title>';

function serve(folder) {
  const server = createServer(async (request, reply) => {
    const path = normalize(new URL(request.url, 'http://here').pathname);
    if (path === '/') return reply.writeHead(200, { 'content-type': 'text/html' }).end(empty_page);
    const file = join(folder, path);
    if (!(await stat(file).catch(() => null))?.isFile()) return reply.writeHead(404).end();
    reply.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(reply);
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

export class Browser {
  #next = 1;
  #waiting = new Map();
  #rest = Buffer.alloc(0);
  said = [];                                     // console messages and uncaught exceptions

  static async start(folder, program = process.env.CHROMIUM ?? 'chromium') {
    const b = new Browser();
    b.server = await serve(folder);
    b.profile = await mkdtemp(join(tmpdir(), 'poslab-browser-'));
    b.process = spawn(program, ['--headless=new', '--remote-debugging-pipe', `--user-data-dir=${b.profile}`,
      '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', ...(process.getuid() === 0 ? ['--no-sandbox'] : []),
      'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    b.process.on('error', (e) => b.#end(new Error(`${program} cannot be started (${e.message}); install chromium`)));
    b.process.on('exit', (code) => b.#end(new Error(`${program} has ended with status ${code}`)));
    b.process.stdio[4].on('data', (bytes) => b.#read(bytes));
    const { targetInfos } = await b.#send('Target.getTargets');
    const page = targetInfos.find((t) => t.type === 'page');
    ({ sessionId: b.session } = await b.#send('Target.attachToTarget', { targetId: page.targetId, flatten: true }));
    await b.send('Runtime.enable');
    await b.send('Page.enable');
    await b.open(`http://127.0.0.1:${b.server.address().port}/`);
    return b;
  }
  async open(url) {
    const loaded = this.event('Page.loadEventFired');
    await this.send('Page.navigate', { url });
    await loaded;
  }
  send(method, params = {}) { return this.#send(method, params, this.session); }
  event(method) { return new Promise((done, failed) => this.#waiting.set(method, { done, failed })); }

  // The function's result in the page, as JSON. Rethrows the function's exceptions.
  async run(f, ...values) {
    const expression = `(${f})(...${JSON.stringify(values)})`;
    const { result, exceptionDetails: wrong } =
      await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (wrong) throw new Error(wrong.exception?.description ?? wrong.text);
    return result.value;
  }
  async stop() {
    const ended = new Promise((done) => this.process.on('exit', done));
    this.#send('Browser.close').catch(() => {});
    await ended;
    this.server.close();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #send(method, params = {}, sessionId) {
    const id = this.#next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((done, failed) => this.#waiting.set(id, { done, failed }));
  }
  #read(bytes) {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let end; (end = this.#rest.indexOf(0)) >= 0; this.#rest = this.#rest.subarray(end + 1))
      this.#take(JSON.parse(this.#rest.subarray(0, end).toString()));
  }
  #take({ id, method, result, error, params }) {
    if (method === 'Runtime.consoleAPICalled')
      this.said.push(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Runtime.exceptionThrown') this.said.push(params.exceptionDetails.exception?.description);
    const waits = this.#waiting.get(id ?? method);
    if (!waits) return;
    this.#waiting.delete(id ?? method);
    if (error) waits.failed(new Error(error.message));
    else waits.done(result ?? params);
  }
  #end(error) {
    for (const { failed } of this.#waiting.values()) failed(error);
    this.#waiting.clear();
  }
}
