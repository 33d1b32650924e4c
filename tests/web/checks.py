"""Checks that everyone can read a page: scripts to run in the page, and rules for screen readers."""

# Texts whose contrast with their background is below WCAG's 4.5:1, or 3:1 for large texts.
CONTRAST = r"""(() => {
  const parsed = text => text.match(/[\d.]+/g).map(Number);
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(v => linear(v / 255))
    .reduce((sum, v, n) => sum + v * [.2126, .7152, .0722][n], 0);
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > .99) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement, style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    if (!walk.currentNode.textContent.trim() || style.visibility === 'hidden' || !box.width || !box.height) continue;
    if (node.closest('script, style, [hidden], .unseen, #said:not(.shown), datalist, option, :disabled')) continue;
    const svg = node.namespaceURI.includes('svg');
    if (svg && node.tagName !== 'text') continue;
    const a = light(parsed(svg ? style.fill : style.color)), b = light(behind(svg ? node.closest('svg') : node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const text = walk.currentNode.textContent.trim().slice(0, 40);
    if (ratio < (large ? 3 : 4.5)) poor.push(`${ratio.toFixed(2)}: ${text}`);
  }
  return poor;
})()"""

# One h1, a language, unique ids, no tab order of its own.
STRUCTURE = r"""(() => {
  const wrong = [], levels = [...document.querySelectorAll('h1, h2, h3')].filter(h => h.getClientRects().length)
    .map(h => Number(h.tagName[1])), ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  if (levels.filter(l => l === 1).length !== 1) wrong.push(`${levels.filter(l => l === 1).length} h1`);
  if (!document.documentElement.lang) wrong.push('no language');
  if (document.querySelector('[tabindex]:not([tabindex="0"], [tabindex="-1"])')) wrong.push('an order of tabs');
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`two of #${id}`);
  for (const label of document.querySelectorAll('label[for]'))
    if (!document.getElementById(label.htmlFor)) wrong.push(`a label for ${label.htmlFor}, which is not there`);
  return wrong;
})()"""

OVERFLOW = r"""(() => {
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > width + 1 &&
    !e.closest('.scroll, svg')).slice(0, 4).map(e => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`);
})()"""

NEED_NAMES = {"button", "textbox", "slider", "spinbutton", "combobox", "radio", "switch", "link", "checkbox", "image",
              "img", "group", "article", "navigation"}


def nameless(nodes):
    """Nodes that have no name for a screen reader, from DevTools' accessibility tree."""
    found = []
    for node in nodes:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in NEED_NAMES and not node.get("name", {}).get("value", "").strip():
            found.append(f"{role} {node.get('nodeId')}: {[p['name'] for p in node.get('properties', [])]}")
    return found
