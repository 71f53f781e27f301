/** Keeps unsaved values in this tab, restores them after a reload, and asks before they are left. */
import { adopt, changes, fields, form, parse, report, rows, say } from '/assets/form.js';
import { complete } from '/assets/filter.js';

/** A query that matches no parameter: an answer then has the changed rows only. */
const NOTHING = '\u{10fffd}';

/** Whether the page is left on purpose: by Review, Discard or a link after which the draft is restored. */
let leaving = false;

/** Fields of a draft that is not restored yet. @type {[string, string][]} */
let held = [];

/** @returns {string | null} The key of the draft of the application and the source of this page. */
function key() {
  const source = /** @type {any} */ (form()?.elements.namedItem('source'))?.value;
  return form() ? `tiphys:draft:${form()?.dataset.application}:${source}` : null;
}

/** Writes the changed rows, or removes the draft if there are none. */
function save() {
  const name = key();
  if (!name || leaving) return;
  if (changes() === 0 && held.length === 0) return sessionStorage.removeItem(name);
  const present = fields();
  const names = new Set(present.map(([field]) => field));
  try {
    sessionStorage.setItem(name, JSON.stringify([...held.filter(([field]) => !names.has(field)), ...present]));
  } catch {
    say('This browser has no space for a draft: unsaved values are lost by a reload.', true);
  }
}

/** Posts a draft, and takes the changed rows of the answer: the server knows whether files have changed since. @param {[string, string][]} draft */
async function restore(draft) {
  await complete();
  const page = /** @type {HTMLFormElement} */ (form());
  const field = (/** @type {string} */ name) => /** @type {any} */ (page.elements.namedItem(name))?.value ?? '';
  const body = new URLSearchParams([...draft, ['csrf', field('csrf')], ['source', field('source')], ['q', NOTHING], ['op', 'filter']]);
  const answer = await fetch(page.getAttribute('action') ?? '', { method: 'POST', body, headers: { accept: 'text/html' } });
  if (!answer.ok) throw new Error(answer.statusText);
  const answered = parse(await answer.text());
  const changed = /** @type {HTMLElement[]} */ ([...answered.querySelectorAll('#rows .row.changed[id]')]);
  for (const row of changed) {
    for (const focused of row.querySelectorAll('[autofocus]')) focused.removeAttribute('autofocus');
    document.getElementById(row.id)?.replaceWith(row);
  }
  held = [];
  adopt(changed);
  report();
  if (changes() > 0) say('Your unsaved values are restored.');
}

let timer = 0;

document.addEventListener('tiphys:form', () => {
  clearTimeout(timer);
  timer = setTimeout(save, 200);
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden) save();
});
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest('#discard')) {
    sessionStorage.removeItem(key() ?? '');
    leaving = true;
  } else if (event.target.closest('#moved a, .tabs a') && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    save();
    leaving = true;
  }
});
document.addEventListener('submit', (event) => {
  if (event.target !== form() || event.defaultPrevented) return;
  save();
  leaving = true;
});
window.addEventListener('beforeunload', (event) => {
  save();
  if (changes() > 0 && !leaving) event.preventDefault();
});
window.addEventListener('pageshow', () => {
  leaving = false;
});
document.addEventListener('tiphys:load', () => {
  const name = key();
  if (!name) return;
  if (document.querySelector('.notice.good')?.textContent?.startsWith('Saved')) sessionStorage.removeItem(name);
  const draft = sessionStorage.getItem(name);
  // A page that answers a form already has the values.
  if ([...rows()].some((row) => 'posted' in row.dataset)) return save();
  held = draft ? JSON.parse(draft) : [];
  if (held.length) restore(held).catch(() => say('The unsaved values could not be restored. Reload the page to try again.', true));
});
