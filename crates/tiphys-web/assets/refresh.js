/** Loads the page again without losing scroll position, focus and open parts. */
import { changes, form, parse, setLost } from '/assets/form.js';

/** @returns {string[]} The summaries of the details that are open or not. @param {ParentNode} root @param {boolean} open */
const summaries = (root, open) =>
  [...root.querySelectorAll('details')].filter((one) => one.open === open).map(name);

/** @param {HTMLDetailsElement} one @returns {string} What identifies it on the page. */
const name = (one) => `${one.closest('.row')?.id ?? ''} ${one.className} ${one.querySelector('summary')?.textContent}`;

/** @param {Element | null} element @returns {string | null} A selector of the same element of the new page. */
function selectorOf(element) {
  if (!element || element === document.body) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const attributes = ['name', 'value', 'href'].map((attribute) => [attribute, element.getAttribute(attribute)]);
  const known = attributes.filter(([attribute, value]) => value !== null && !(attribute === 'value' && element.matches('input')));
  return element.localName + known.map(([attribute, value]) => `[${attribute}="${CSS.escape(value ?? '')}"]`).join('');
}

/** Replaces the content of the page by that of the server. */
export async function refresh() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (answer.status === 401) return setLost(true);
  const page = parse(await answer.text());
  // The answer may come after the first keystroke.
  if (changes() > 0) return void document.querySelector('#moved')?.removeAttribute('hidden');
  const [old, fresh] = [document.querySelector('#main'), page.querySelector('#main')];
  if (!old || !fresh || page.body.dataset.version === undefined) throw new Error('no page');
  const active = /** @type {HTMLInputElement | null} */ (document.activeElement);
  const selector = old.contains(active) ? selectorOf(active) : null;
  const selection = active?.matches('input[type=text], input[type=search], textarea') ? [active.selectionStart, active.selectionEnd] : null;
  const [open, closed] = [summaries(old, true), summaries(old, false)];
  for (const focused of fresh.querySelectorAll('[autofocus]')) focused.removeAttribute('autofocus');
  for (const saved of fresh.querySelectorAll('.notice.good')) saved.remove();
  for (const one of fresh.querySelectorAll('details')) one.open = open.includes(name(one)) || (one.open && !closed.includes(name(one)));
  const top = scrollY;
  old.replaceChildren(...fresh.childNodes);
  document.body.dataset.version = page.body.dataset.version;
  document.title = page.title;
  document.dispatchEvent(new CustomEvent('tiphys:load'));
  const next = selector && /** @type {HTMLInputElement | null} */ (old.querySelector(selector));
  if (next) {
    next.focus({ preventScroll: true });
    if (selection) next.setSelectionRange(selection[0] ?? null, selection[1] ?? null);
  }
  scrollTo({ top, behavior: 'instant' });
}

/** Marks the edited rows whose value is another one in the files now. The fields stay as they are. */
export async function compare() {
  const page = form();
  if (!page) return;
  const url = new URL(page.getAttribute('action') ?? '', location.href);
  url.searchParams.set('source', /** @type {any} */ (page.elements.namedItem('source')).value);
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const fresh = parse(await answer.text());
  const saved = (/** @type {Element | null} */ row) => row?.querySelector('[name^="was:"]')?.getAttribute('value');
  for (const row of document.querySelectorAll('#rows [data-group] .row.changed')) {
    const note = row.querySelector('.note');
    if (!note || note.querySelector('.conflict') || saved(fresh.getElementById(row.id)) === saved(row)) continue;
    const mark = Object.assign(document.createElement('p'), { className: 'problem conflict' });
    mark.textContent = 'Changed in the files meanwhile. Yours is kept.';
    note.prepend(mark);
  }
}
