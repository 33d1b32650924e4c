// Draws a page from its document (README.md): header, sections, and their parts, each by its kind.
import {choice, element, from_html} from './element.mjs';
import {escape, prose} from './text.mjs';

function paragraph({text, style, formula}) {
  const below = formula ? ` <code class="formula">${escape(formula)}</code>` : '';
  return `<p${style ? ` class="${style}"` : ''}>${prose(text)}${below}</p>`;
}
const common = {
  prose: paragraph,
  commands: ({text}) => `<pre>${escape(text)}</pre>`
};

// A part is a paragraph's text, or {kind, ...}; with `fold` it opens under that summary. kinds: the exports of the
// page's other modules, each a function from a part to HTML or an element.
function part_of(part, kinds) {
  if (typeof part === 'string') part = {kind: 'prose', text: part};
  const drawn = {...common, ...kinds}[part.kind](part), node = typeof drawn === 'string' ? from_html(drawn) : drawn;
  if (!part.fold) return node;
  const details = element('details', {}, element('summary', {}, part.fold), node);
  details.open = part.open ?? false;
  return details;
}

function section_of({id, title, parts}, kinds) {
  const nodes = parts.map(part => part_of(part, kinds)), axis = {log: 0};
  const logs = nodes.filter((_, n) => parts[n].log_low !== undefined);
  const pick = choice('axis', logs.length ? ['linear', 'logarithmic'] : [], axis, 'log',
      () => logs.forEach(figure => figure.draw(axis.log === 1)));
  if (!title) return element('section', {}, pick, ...nodes);
  return element('section', {'aria-labelledby': id}, element('h2', {id}, title), pick, ...nodes);
}

// Links to the sections, at the side of a wide screen, for a page that has many.
function contents(sections) {
  const link = ({id, title}) => `<li><a href="#${escape(id)}">${escape(title)}</a></li>`;
  const links = sections.filter(({title}) => title).map(link);
  return from_html(links.length < 3 ? '' :
      `<nav class="side" aria-label="Contents"><ul>\n${links.join('\n')}</ul></nav>`);
}

export function show_document({command, title, lead, choices = [], sections}, kinds = {}) {
  document.title = title;
  const header = element(
      'header', {}, element('p', {class: 'kicker'}, `poslab ${command}`), element('h1', {}, title),
      ...lead.map(part => part_of(part, kinds)));
  const main = element(
      'main', {}, ...choices.map(part => part_of(part, kinds)), ...sections.map(section => section_of(section, kinds)));
  document.body.prepend(contents(sections), header, main);
  const linked = sections.find(({id}) => id && `#${id}` === location.hash);
  if (linked) document.getElementById(linked.id).scrollIntoView();
}
