/**
 * The rows of the form: which of them are changed, their count in the bar, and what is posted.
 * The event `tiphys:form` on the document reports each change, `tiphys:load` new content of the page.
 */

/** @returns {HTMLFormElement | null} The form of the parameters. */
export const form = () => document.querySelector('#form');

/** @returns {NodeListOf<HTMLElement>} All rows, also hidden ones. */
export const rows = () => document.querySelectorAll('#rows .row');

/** @returns {number} The number of changed rows. */
export const changes = () => document.querySelectorAll('#rows .row.changed').length;

/** Announces a sentence to screen readers. An error is also shown. @param {string} text @param {boolean} [isError] */
export function say(text, isError = false) {
  const live = document.querySelector('#live');
  live?.classList.toggle('bad', isError);
  if (live) live.textContent = text;
}

/**
 * Parses a page of the server. Its row buttons do not submit: the modules handle them, and Chromium looks through all controls of a form
 * for each submit button that is added.
 * @param {string} html @returns {Document}
 */
export const parse = (html) =>
  new DOMParser().parseFromString(html.replace(/<button name="op"(?= value="\w+:)/g, '<button type="button" name="op"'), 'text/html');

/** @returns {URLSearchParams} What the form posts. */
export const posted = () => new URLSearchParams(/** @type {any} */ (new FormData(/** @type {HTMLFormElement} */ (form()))));

/** Shows that the server was restarted or has ended, or no longer. @param {boolean} lost */
export function setLost(lost) {
  const banner = /** @type {HTMLElement | null} */ (document.querySelector('#lost'));
  if (banner) banner.hidden = !lost;
}

/** Reports a change of the form. */
export const report = () => document.dispatchEvent(new CustomEvent('tiphys:form'));

const CONTROLS = 'input:not([type=hidden]), select, textarea';

/** The notes of rows before the first change. @type {WeakMap<Element, Node[]>} */
const notes = new WeakMap();

/** @param {any} control @returns {boolean} Whether the value is not the one that the server sent. */
function differs(control) {
  if (control.type === 'radio' || control.type === 'checkbox') return control.checked !== control.defaultChecked;
  if (control.options) {
    const sent = [...control.options].findIndex((option) => option.defaultSelected);
    return control.selectedIndex !== Math.max(sent, 0);
  }
  return control.value !== control.defaultValue;
}

/** @param {HTMLElement} row @returns {boolean} */
function isChanged(row) {
  const added = /** @type {NodeListOf<HTMLInputElement>} */ (row.querySelectorAll('[name=new-name], [name=new-value]'));
  if (added.length) return [...added].some((control) => control.value !== '');
  return 'posted' in row.dataset || [...row.querySelectorAll(CONTROLS)].some(differs);
}

/** Marks a row as invalid or not. @param {Element} row @param {boolean} invalid */
export function setInvalid(row, invalid) {
  row.classList.toggle('invalid', invalid);
  for (const old of row.querySelectorAll('[aria-invalid]')) old.removeAttribute('aria-invalid');
  const name = /** @type {HTMLInputElement | null} */ (row.querySelector('[name=new-name]'));
  const added = name?.value.trim() === '' ? name : row.querySelector('[name=new-value]');
  const control = added ?? row.querySelector('.control [aria-labelledby]:not(ol)');
  if (invalid) control?.setAttribute('aria-invalid', 'true');
}

/** Replaces the problems under the control of a row. @param {Element} row @param {Node[][]} problems The nodes of each. */
export function setProblems(row, problems) {
  const note = row.querySelector('.note');
  if (!note) return;
  for (const old of note.querySelectorAll('.problem:not(.conflict)')) old.remove();
  for (const problem of problems) {
    const text = document.createElement('p');
    text.className = 'problem';
    text.append(...problem);
    note.append(text);
  }
  setInvalid(row, problems.length > 0);
}

/** Marks the row of a control that was changed. @param {HTMLElement} row */
function mark(row) {
  const changed = isChanged(row);
  const note = row.querySelector('.note');
  if (note && !row.classList.contains('changed') && !notes.has(row)) {
    notes.set(row, [...note.childNodes].map((node) => node.cloneNode(true)));
  }
  setProblems(row, []);
  if (!changed && note) {
    note.replaceChildren(...(notes.get(row) ?? []).map((node) => node.cloneNode(true)));
    setInvalid(row, note.querySelector('.problem:not(.conflict)') !== null);
  }
  row.classList.toggle('changed', changed);
  offerUndo(row, changed);
}

/** Adds the button that brings back the saved state of a row, as the server does, or removes it. @param {Element} row @param {boolean} changed */
function offerUndo(row, changed) {
  const present = row.querySelector('.undo');
  if (!changed || present) return changed || present?.remove();
  const button = Object.assign(document.createElement('button'), { className: 'undo', type: 'button', name: 'op', textContent: 'Undo' });
  const pointer = row.querySelector('[name^="was:"]')?.getAttribute('name')?.slice('was:'.length) ?? 'new';
  button.value = `undo:${pointer}`;
  button.setAttribute('aria-label', `Undo ${/** @type {HTMLElement} */ (row).dataset.name}`);
  row.querySelector('.origin')?.prepend(button);
}

/** Marks rows as changed that the server sent as changed. @param {Iterable<HTMLElement>} fresh */
export function adopt(fresh) {
  for (const row of fresh) if (row.classList.contains('changed')) row.dataset.posted = '';
}

/** Shows the number of changes in the bar, or hides the bar. */
function count() {
  const bar = /** @type {HTMLElement | null} */ (document.querySelector('#bar'));
  const number = bar?.querySelector('#count');
  if (!bar || !number) return;
  number.textContent = String(changes());
  bar.hidden = changes() === 0;
}

/** @returns {[string, string][]} The controls of the changed rows as they are posted. */
export function fields() {
  const controls = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll('#rows .row.changed :is(input, select, textarea)'));
  const posted = [...controls].filter((control) => control.checked || !['radio', 'checkbox'].includes(control.type));
  return posted.map((control) => [control.name, control.value]);
}

/** Leaves out the controls of unchanged rows: the server takes parameters that a form lacks as unchanged. @param {FormData} data */
function shorten(data) {
  const dropped = new Set();
  for (const row of document.querySelectorAll('#rows .row[id]:not(.changed)')) {
    for (const control of row.querySelectorAll('input, select, textarea')) dropped.add(control.getAttribute('name'));
  }
  const kept = [...data].filter(([name]) => !dropped.has(name));
  for (const name of new Set(data.keys())) data.delete(name);
  for (const [name, value] of kept) data.append(name, value);
}

document.addEventListener('input', (event) => {
  const row = event.target instanceof Element && event.target.closest('#rows .row');
  if (!row) return;
  mark(/** @type {HTMLElement} */ (row));
  report();
});
document.addEventListener('tiphys:form', count);
document.addEventListener('formdata', (event) => {
  if (event.target === form()) shorten(event.formData);
});
document.addEventListener('submit', (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (event.target !== form() || button?.name !== 'op' || button.value !== 'filter') return;
  event.preventDefault();
  report();
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  const id = link && link.getAttribute('href')?.slice(1);
  const row = id && document.getElementById(`${id}-row`);
  if (!row) return;
  event.preventDefault();
  row.hidden = false;
  row.closest('section')?.removeAttribute('hidden');
  const control = /** @type {HTMLElement | null} */ (row.querySelector(`${CONTROLS}, [tabindex]`));
  control?.focus();
});
document.addEventListener('tiphys:load', () => {
  adopt(rows());
  count();
});
