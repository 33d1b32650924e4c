// Checkpoints of the program, byte for byte (lab/runs/checkpoint.h): a safetensors file whose metadata has the run's
// options as TOML and a checksum of the whole file. Damaged files and other versions are refused with a sentence.

const crc_table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
function crc32(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = crc_table[(c ^ byte) & 255] ^ (c >>> 8);
  return ((c ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
}

const mark = '{"__metadata__":{"crc32":"', zeros = '00000000', crc_at = 8 + mark.length;
const size_of = (shape) => shape.reduce((all, n) => all * n, 1);
const text_of = (bytes) => new TextDecoder().decode(bytes);

// A value in the program's spelling: a whole floating-point number keeps its type, as 1.0.
function as_toml(option) {
  if (option.toggle) return option.value === 'on' ? 'true' : 'false';
  if (option.whole) return option.value;
  if (option.number) return /[.e]/.test(option.value) ? option.value : option.value + '.0';
  return JSON.stringify(option.value);
}
export function to_toml(config) {
  let text = '', group = '';
  for (const o of config.filter((one) => one.written)) {
    if (o.group !== group) text += `${group ? '\n' : ''}# ${o.group}\n`;
    group = o.group;
    text += `${`${o.name} = ${as_toml(o)}`.padEnd(31)} # ${o.about}\n`;
  }
  return text;
}
// Reads the output of to_toml: {name: text}.
export function from_toml(text, name) {
  const config = {};
  for (const line of text.split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue;
    const found = /^(\w+) = ("(?:[^"\\]|\\.)*"|[^\s#"]+)\s*(#.*)?$/.exec(line);
    if (!found) throw new Error(`${name} is damaged: its options have the line ${JSON.stringify(line)}; ` +
      'restore it from a copy, or train again');
    const value = found[2];
    config[found[1]] = value.startsWith('"') ? JSON.parse(value)
      : value === 'true' ? 'on' : value === 'false' ? 'off' : value;
  }
  return config;
}

// config: TOML text; parts: [{name, shape}]; numbers: those of all parts, one part after the other
export function write_checkpoint({ format, step, seed, config }, parts, numbers) {
  const header = { __metadata__: { crc32: zeros, format, step: String(step), seed: String(seed), config } };
  let at = 0;
  for (const { name, shape } of parts) {
    const end = at + 4 * size_of(shape);
    header[name] = { dtype: 'F32', shape, data_offsets: [at, end] };
    at = end;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;                      // numbers begin at a multiple of 8
  const bytes = new Uint8Array(8 + length + at).fill(32, 8, 8 + length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(text, 8);
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), 8 + length);
  return sealed(bytes);
}
// The same bytes with a correct checksum.
export function sealed(bytes) {
  const made = bytes.slice();
  made.set(new TextEncoder().encode(zeros), crc_at);
  made.set(new TextEncoder().encode(crc32(made)), crc_at);
  return made;
}

// -> {config: {name: text}, step, weights: how many, numbers_of(parts)}. Throws an Error that begins with the name.
export function read_checkpoint(bytes, name, format) {
  const damaged = (what) => new Error(`${name} is damaged; restore it from a copy, or train again: ${what}`);
  if (bytes.length < crc_at + zeros.length) throw damaged(`it is cut off after ${bytes.length} bytes`);
  if (text_of(bytes.subarray(8, crc_at)) !== mark) throw damaged('it does not begin like a checkpoint of poslab');
  const checksum = (file) => text_of(file.subarray(crc_at, crc_at + zeros.length)), is = checksum(sealed(bytes));
  if (is !== checksum(bytes)) throw damaged(`its checksum is ${is} and should be ${checksum(bytes)}`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > bytes.length - 8) throw damaged(`its header has ${length} bytes and ${bytes.length - 8} are there`);
  let header;
  try {
    header = JSON.parse(text_of(bytes.subarray(8, 8 + length)));
  } catch (e) {
    throw damaged(`its header is not JSON (${e.message})`);
  }
  const about = header.__metadata__ ?? {};
  if (about.format !== format)
    throw new Error(/^poslab /.test(about.format ?? '') && !about.format.startsWith('poslab checkpoint')
      ? `${name} is of another kind of model ("${about.format}"), which this page does not train; ` +
        'open it with the program'
      : `${name} was written by another version of poslab ("${about.format}"); this one reads "${format}"`);
  const numbers = bytes.slice(8 + length);
  const part = ({ name: wanted, shape }) => {
    const t = header[wanted];
    if (!t || t.shape?.join() !== shape.join())
      throw new Error(`${name} has no tensor ${wanted} of shape (${shape.join(', ')}): ` +
        'it is of another model; restore it from a copy, or train again');
    if (t.dtype !== 'F32')
      throw new Error(`${name} holds ${t.dtype} numbers, but this page computes with F32; use the build that wrote it`);
    const [from, to] = t.data_offsets ?? [];
    if (to - from !== 4 * size_of(shape) || to > numbers.length || from % 4)
      throw damaged(`the tensor ${wanted} lies at bytes ${from} to ${to} of ${numbers.length}`);
    return new Float32Array(numbers.buffer, from, size_of(shape));
  };
  return {
    config: from_toml(about.config ?? '', name),
    step: about.step,
    weights: header['adam.m'] ? size_of(header['adam.m'].shape ?? []) : 0,
    numbers_of(parts) {
      const all = parts.map(part), joined = new Float32Array(all.reduce((n, one) => n + one.length, 0));
      let at = 0;
      for (const one of all) joined.set(one, at), at += one.length;
      return joined;
    },
  };
}
