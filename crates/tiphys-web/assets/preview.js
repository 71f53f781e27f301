/** The effect of the unsaved values beside the form, and the problems of the values under their controls. */
import { changes, form, rows, say, setProblems } from '/assets/form.js';
import { begin, end } from '/assets/working.js';

const panel = () => /** @type {HTMLElement | null} */ (document.querySelector('#preview'));

/** Whether values have changed since the last request, so that its answer is obsolete. */
let stale = false;

/** Problems of the answer by the ids of fields. @returns {Map<string, string[]>} */
function problems() {
  const found = new Map();
  for (const problem of panel()?.querySelectorAll('.problem[data-for]') ?? []) {
    const id = /** @type {HTMLElement} */ (problem).dataset.for;
    found.set(id, [...(found.get(id) ?? []), problem.textContent?.trim() ?? '']);
  }
  return found;
}

/** Names the first problem in the bar. @param {Element | null | undefined} first */
function setReason(first) {
  const why = document.querySelector('#why');
  if (!why) return;
  const link = first?.querySelector('a')?.cloneNode(true);
  if (why.textContent?.includes(link?.textContent ?? '\n')) return;
  why.replaceChildren(...(link ? ['fix ', link, ' to review'] : []));
}

/** Shows what the answer says about each changed row. */
function apply() {
  const found = problems();
  for (const row of rows()) {
    if (!row.classList.contains('changed') || !row.id) continue;
    const texts = found.get(row.id.replace(/-row$/, '')) ?? [];
    const prefix = `${row.dataset.name}: `;
    setProblems(row, texts.map((text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)));
  }
  setReason(panel()?.querySelector('.problem[data-for]'));
  summarize();
  if (!panel()?.children.length) note('The files have these values.');
}

/** Brings the summary of the server's last page up to date. */
function summarize() {
  const list = document.querySelector('#summary ul');
  const links = [...(panel()?.querySelectorAll('.problem[data-for] a') ?? [])];
  const title = document.querySelector('#summary h2');
  if (!list || !title) return;
  if (links.length === 0) return document.querySelector('#summary')?.replaceChildren();
  title.textContent = `${links.length} invalid`;
  const items = links.map((link) => {
    const item = document.createElement('li');
    item.append(link.cloneNode(true));
    return item;
  });
  list.replaceChildren(...items);
}

/** Shows a sentence instead of the effect. @param {string} text @param {string} [names] Its classes. */
function note(text, names = 'empty') {
  const sentence = document.createElement('p');
  sentence.className = names;
  sentence.textContent = text;
  panel()?.replaceChildren(sentence);
}

/** Shows that there are no unsaved values. */
function clear() {
  note('Change a value to see its effect on the manifests here.');
  setReason(null);
  summarize();
}

/** Shows the message of a page instead of the effect. @param {string} html */
function fail(html) {
  const message = new DOMParser().parseFromString(html, 'text/html').querySelector('main p')?.textContent;
  note(message ?? 'The server cannot show the effect.', 'notice bad');
}

/** Asks for the effect of the present values. */
function update() {
  const preview = panel();
  if (!preview) return;
  stale = true;
  if (changes() > 0) {
    htmx.trigger(preview, 'preview');
    return;
  }
  htmx.trigger(preview, 'htmx:abort');
  clear();
}

document.addEventListener('tiphys:form', update);
document.addEventListener('tiphys:load', () => {
  if (!panel() || !form()) return;
  htmx.process(panel());
  if (changes() > 0) update();
  else clear();
});
document.addEventListener('htmx:beforeRequest', (event) => {
  if (event.detail.elt !== panel()) return;
  stale = false;
  if (changes() === 0) return event.preventDefault();
  panel()?.setAttribute('aria-busy', 'true');
  begin('effect', form()?.dataset.application ?? '', () => {
    htmx.trigger(panel(), 'htmx:abort');
    note('Cancelled. Change a value to see the effect on the manifests.');
  });
});
document.addEventListener('htmx:afterRequest', (event) => {
  if (event.detail.elt !== panel()) return;
  panel()?.removeAttribute('aria-busy');
  end('effect');
});
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target, xhr } = event.detail;
  const obsolete = target === panel() && (stale || changes() === 0);
  if (xhr.status === 401 || obsolete) event.detail.shouldSwap = false;
  if (xhr.status === 401) document.querySelector('#lost')?.removeAttribute('hidden');
  else if (target === panel() && !obsolete && xhr.status >= 400) {
    event.detail.shouldSwap = false;
    fail(xhr.responseText);
  }
});
document.addEventListener('htmx:afterSwap', (event) => {
  if (event.detail.target === panel()) apply();
});
document.addEventListener('htmx:responseError', (event) => say(`The server answered ${event.detail.xhr.status}.`, true));
document.addEventListener('htmx:sendError', () => say('The server does not answer.', true));
