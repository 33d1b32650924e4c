// A page as slides: its header, and then the contents of each section, one piece at a time, with the text before it.
// The arrow keys, Page Up and Down, the space bar and two buttons turn the slides; #3 in the address opens the third.
// In print each slide has its own sheet.
import {element} from './element.mjs';

const shows = 'figure, table, .grid, .scroll, details, pre, .drawing';

// The parts of the body that each slide shows.
function slides_of(body) {
  const slides = [[...body.querySelectorAll(':scope > header')]];
  for (const section of body.querySelectorAll('main section:has(h2)')) {
    const heading = section.querySelector('h2');
    let slide = [heading];
    for (const part of [...section.children].filter(child => child !== heading)) {
      slide.push(part);
      if (!part.matches(shows)) continue;
      slides.push(slide);
      slide = [heading];
    }
    if (slides.at(-1)[0] === heading)
      slides.at(-1).push(...slide.slice(1));  // the text below the last piece
    else
      slides.push(slide);
  }
  return slides;
}

export function show_slides() {
  const slides = slides_of(document.body);
  let at = 0;
  const button = (text, label, by) => {
    const made = element('button', {type: 'button', 'aria-label': label}, text);
    made.addEventListener('click', () => turn(at + by));
    return made;
  };
  const where = element('output', {});
  document.body.append(
      element('nav', {class: 'turn', 'aria-label': 'Slides'}, button('‹', 'back', -1), where, button('›', 'on', 1)));

  function turn(to) {
    at = Math.max(0, Math.min(slides.length - 1, to));
    document.querySelectorAll('.on').forEach(part => part.classList.remove('on'));
    for (let part of slides[at])
      for (; part && part !== document.body; part = part.parentElement) part.classList.add('on');
    where.textContent = `${at + 1} / ${slides.length}`;
    history.replaceState(null, '', `#${at + 1}`);
    scrollTo(0, 0);
  }
  const steps = {ArrowRight: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, PageUp: -1, Home: -1e9, End: 1e9};
  addEventListener('keydown', event => {
    const step = steps[event.key];
    // Charts, maps and controls receive the keys while they have the focus.
    if (!step || event.defaultPrevented || event.target !== document.body) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    turn(at + step);
  });
  addEventListener('hashchange', () => turn(Number(location.hash.slice(1)) - 1 || 0));
  document.querySelector('.side')?.remove();
  document.body.classList.add('slides');
  slides.forEach(slide => slide.at(-1).classList.add('last'));
  turn(Number(location.hash.slice(1)) - 1 || 0);
}
