// Tables, described in README.md: numbers by the form of their column, runs with a mark in their color.
import {scrolled} from './element.mjs';
import {escape, formatted} from './text.mjs';

const mark = color => color ? `<i class="mark ${color}" aria-hidden="true"></i>` : '';

// A number, a text, nothing, or {value or text, color, low and high, below or beside, strong}; a list of these is
// written as a difference.
function content(cell, form) {
  if (Array.isArray(cell)) return cell.map(one => content(one, form)).join(' − ');
  if (typeof cell === 'string') return escape(cell);
  if (typeof cell !== 'object' || !cell) return formatted(cell, form);
  const {color, text, value, low, high} = cell, interval_form = form === 'percent' ? 'points' : form;
  const interval = Number.isFinite(low) ? `${formatted(low, interval_form)} to ${formatted(high, interval_form)}` : '';
  if (text === undefined && value === undefined) return interval;
  const shown = mark(color) + (text === undefined ? formatted(value, form) : escape(text));
  if (cell.beside) return `${shown} <small>${escape(cell.beside)}</small>`;
  const below = escape(cell.below ?? interval).replaceAll('\n', '<br>');
  return below && !color ? `<span>${shown}<small>${below}</small></span>` : below ? `${shown}<small>${below}</small>` :
                                                                                     shown;
}
const attribute = (name, value) => value ? ` ${name}="${value}"` : '';

// A row with the name of each group above its neighbouring columns.
function groups_of(columns) {
  const spans = [];
  for (const {group = ''} of columns)
    if (spans.length && spans.at(-1).group === group) ++spans.at(-1).size;
    else spans.push({group, size: 1});
  if (spans.every(({group}) => !group)) return '';
  return `<tr>${spans.map(({group, size}) => group ?
      `<th colspan="${size}" scope="colgroup"><span>${escape(group)}</span></th>` :
      `<td colspan="${size}"></td>`).join('')}</tr>`;
}
function row_of(row, columns) {
  const [first, ...rest] = row;
  const cells = rest.map((cell, n) => {
    const {name, full = name, kind = '', form} = columns[n + 1];
    const classes = [kind, cell?.strong ? 'score' : ''].filter(Boolean).join(' ');
    return `<td${attribute('class', classes)} data-name="${escape(full)}">${content(cell, form)}</td>`;
  });
  return `<tr><th scope="row">${content(first)}</th>${cells.join('')}</tr>\n`;
}
export function table({label, caption, style = 'runs', columns, rows}) {
  const head = columns.map(({name, kind, color}, n) => {
    const text = n === 0 || kind === 'text' ? 'text' : '';
    return `<th scope="col"${attribute('class', text)}>${mark(color)}${escape(name)}</th>`;
  });
  const above = caption ? `<p class="caption">${escape(caption)}</p>` : '';
  return above + scrolled(label ?? caption, `<table class="${style}"><thead>${groups_of(columns)}<tr>${head.join('')}` +
      `</tr></thead><tbody>\n${rows.map(row => row_of(row, columns)).join('')}</tbody></table>`);
}

// {label, columns: [{text, color}], parts: [{name, rows: [[name, text, ...]]}]}: a row whose texts differ stands out.
export function settings({label, columns, parts}) {
  const heads = columns.map(column => `<th scope="col" class="text">${content(column)}</th>`).join('');
  const bodies = parts.map(({name, rows}) => {
    const lines = rows.map(([key, ...texts]) => {
      const differs = new Set(texts).size > 1 ? 'differs' : '';
      const cells = texts.map(text => `<td class="text">${content(text)}</td>`).join('');
      return `<tr${attribute('class', differs)}><th scope="row">${escape(key)}</th>${cells}</tr>\n`;
    });
    return `<thead><tr><th scope="col">${escape(name)}</th>${heads}</tr></thead><tbody>${lines.join('')}</tbody>`;
  });
  return scrolled(label, `<table class="settings">${bodies.join('')}</table>`);
}
