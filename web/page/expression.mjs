// Expressions of i (query), j (key), h (head), n (slots): parsed by recursive descent into a tree, which is then
// evaluated. The browser never runs the text.
//
//   sum  = term {(+|-) term}    term = sign {(*|/|%) sign}    sign = [-] power    power = atom [^ sign]
//   rule = sum [(<|<=|>|>=|==|!=) sum]      atom = number | name | function(rule, ...) | (rule)

const CONSTANTS = {pi: Math.PI, e: Math.E};
const of_math = (count, ...names) => Object.fromEntries(names.map(name => [name, [count, Math[name]]]));
// Name: [number of arguments, function]
const FUNCTIONS = {
  ...of_math(1, 'abs', 'sqrt', 'exp', 'log', 'log2', 'sin', 'cos', 'tanh', 'sign', 'floor', 'ceil', 'round'),
  ...of_math(2, 'min', 'max', 'pow'),
  clamp: [3, (x, low, high) => Math.min(high, Math.max(low, x))],
  if: [3, (c, a, b) => c ? a : b],
};
const BINARY = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a - b * Math.floor(a / b),
  '^': (a, b) => a ** b,
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
};
const LONGEST = 300, DEEPEST = 40;
export const FUNCTION_NAMES = Object.keys(FUNCTIONS);

export function refuse(words) { throw new Error(words); }

function tokens_of(text) {
  const tokens = [];
  const shape = /\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z_]\w*)|(<=|>=|==|!=|[-+*/%^(),<>]))/iy;
  while (shape.lastIndex < text.length) {
    const from = shape.lastIndex, found = shape.exec(text);
    if (!found) {
      const rest = text.slice(from).trim();
      if (!rest) break;
      const column = from + text.slice(from).search(/\S/) + 1;
      refuse(`Column ${column}: “${[...rest][0]}” has no meaning here. Use numbers, i, j, h, n, + - * / % ^, ` +
          'comparisons, and functions such as abs(i - j).');
    }
    const [, number, name, sign] = found, column = shape.lastIndex - (number ?? name ?? sign).length + 1;
    tokens.push({number: number === undefined ? undefined : Number(number), name, sign, column});
  }
  return tokens;
}

// How alike two words are by the letter pairs that both have, for "did you mean".
function alike(a, b) {
  const pairs = word => new Set([...`^${word}$`].slice(0, -1).map((c, n) => c + `^${word}$`[n + 1]));
  const [x, y] = [pairs(a), pairs(b)];
  return [...x].filter(pair => y.has(pair)).length / Math.max(x.size, y.size);
}

// Parses `text`, in which the variables have these names. Returns a function that maps an object of their values to a
// number. Throws an Error with a sentence that names the column.
export function read_expression(text, variables = ['i', 'j', 'h', 'n']) {
  if (!text.trim()) refuse('There is no expression yet. Try -abs(i - j) / 2^(h + 1).');
  if (text.length > LONGEST) refuse(`The expression has ${text.length} characters; at most ${LONGEST} are read.`);
  const tokens = tokens_of(text);
  let at = 0, depth = 0;
  const place = () => at < tokens.length ? `Column ${tokens[at].column}` : 'At the end';
  const written = token => token.number ?? token.name ?? token.sign;
  const said = () => at < tokens.length ? `“${written(tokens[at])}”` : 'nothing';
  const next = sign => at < tokens.length && tokens[at].sign === sign;
  function take(sign, why) {
    if (!next(sign)) refuse(`${place()}: expected “${sign}” ${why}, found ${said()}.`);
    ++at;
  }
  function deeper(read) {
    if (++depth > DEEPEST) refuse(`${place()}: more than ${DEEPEST} levels of brackets and signs.`);
    const tree = read();
    --depth;
    return tree;
  }
  function joined(signs, part) {
    let left = part();
    while (at < tokens.length && signs.includes(tokens[at].sign)) {
      const apply = BINARY[tokens[at++].sign], a = left, b = part();
      left = values => apply(a(values), b(values));
    }
    return left;
  }
  const sum = () => joined(['+', '-'], term);
  const term = () => joined(['*', '/', '%'], signed);
  function rule() { return joined(['<', '<=', '>', '>=', '==', '!='], sum); }
  function signed() {
    if (!next('-')) return power();
    ++at;
    const inner = deeper(signed);
    return values => -inner(values);
  }
  function power() {
    const base = atom();
    if (!next('^')) return base;
    ++at;
    const exponent = deeper(signed);
    return values => base(values) ** exponent(values);
  }
  function call(name, column) {
    const [count, apply] = FUNCTIONS[name], parts = [];
    take('(', `after ${name}`);
    do parts.push(deeper(rule));
    while (next(',') && ++at);
    take(')', `to close ${name}(`);
    if (parts.length !== count)
      refuse(`Column ${column}: ${name} takes ${count} ${count === 1 ? 'value' : 'values'}, not ${parts.length}.`);
    return values => apply(...parts.map(part => part(values)));
  }
  function atom() {
    if (at === tokens.length) refuse('At the end: something is missing after the last sign.');
    const {number, name, sign, column} = tokens[at];
    if (number !== undefined) return ++at, () => number;
    if (sign === '(') {
      ++at;
      const inner = deeper(rule);
      take(')', 'to close the bracket');
      return inner;
    }
    if (name === undefined) refuse(`${place()}: ${said()} stands where a value should be.`);
    ++at;
    if (variables.includes(name)) return values => values[name];
    if (Object.hasOwn(CONSTANTS, name)) return () => CONSTANTS[name];
    if (Object.hasOwn(FUNCTIONS, name)) return call(name, column);
    const names = [...variables, ...Object.keys(CONSTANTS), ...FUNCTION_NAMES];
    const best = names.reduce((a, b) => alike(name, b) > alike(name, a) ? b : a);
    return refuse(
        `Column ${column}: “${name}” is not known. ` + (alike(name, best) > .4 ? `Did you mean ${best}? ` : '') +
        `There are ${variables.join(', ')}, pi, e, and ${FUNCTION_NAMES.join(', ')}.`);
  }
  const tree = rule();
  if (at < tokens.length) refuse(`${place()}: ${said()} stands where a sign such as + or *, or the end, should be.`);
  return tree;
}

// "1/0.1/0.01" or "1, 0.1, 0.01": numbers above 0, in radians per position. Throws an Error with a sentence.
export function read_frequencies(text) {
  const words = text.split(/[\s,;/]+/).filter(Boolean);
  if (!words.length) refuse('There are no frequencies yet. Try 1, 0.1, 0.01, 0.001.');
  if (words.length > 64) refuse(`There are ${words.length} frequencies; at most 64 are read.`);
  return words.map((word, n) => {
    const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word) ? Number(word) : NaN;
    if (!(value > 0 && value <= 1e6))
      refuse(`Frequency ${n + 1} is “${word.slice(0, 20)}”; give a number above 0, in radians per position.`);
    return value;
  });
}
