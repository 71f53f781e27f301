/** Filters the rows in place. The state is in the URL, so that a reload shows the same. */
import { form, parse, rows, say } from '/assets/form.js';

const TOGGLES = ['set', 'required', 'invalid'];

/** The text of each row in lower case. @type {WeakMap<Element, string>} */
const texts = new WeakMap();

/** @param {string} name @returns {any} */
const control = (name) => form()?.elements.namedItem(name);

/** @returns {number} The number of parameters of the source, also those that the page lacks. */
const total = () => Number(/of (\d+)/.exec(document.querySelector('#shown')?.textContent ?? '')?.[1] ?? 0);

/** @param {any} one @returns {string} What a control shows. */
function shown(one) {
  if (one.type === 'radio') return one.checked ? one.parentElement.textContent : '';
  return one.options ? (one.selectedOptions[0]?.text ?? '') : one.value;
}

/** @param {HTMLElement} row @returns {string} Name, title, description and value in lower case. */
function textOf(row) {
  let text = texts.get(row);
  if (text === undefined) {
    const controls = row.querySelectorAll('.control :is(input:not([type=hidden]), select, textarea)');
    const value = controls.length ? [...controls].map(shown) : [row.querySelector('.control')?.textContent ?? ''];
    const about = [...row.querySelectorAll('.title, .tooltip')].map((part) => part.textContent);
    text = [row.dataset.name, ...about, ...value].join('\n').toLowerCase();
    texts.set(row, text);
  }
  return text;
}

/** Shows the rows that match, and those that are changed. */
function apply() {
  const word = control('q').value.trim().toLowerCase();
  const group = control('group').value;
  const isOn = Object.fromEntries(TOGGLES.map((name) => [name, control(name).checked]));
  const matches = (/** @type {HTMLElement} */ row) =>
    (!isOn.set || row.querySelector('.badge.here')) &&
    (!isOn.required || row.querySelector('.required')) &&
    (!isOn.invalid || row.classList.contains('invalid')) &&
    (word === '' || textOf(row).includes(word));
  let count = 0;
  for (const section of document.querySelectorAll('#rows .group[data-group]')) {
    const inGroup = group === '' || /** @type {HTMLElement} */ (section).dataset.group === group;
    let any = false;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll('.row'))) {
      row.hidden = !(row.classList.contains('changed') || (inGroup && matches(row)));
      any ||= !row.hidden;
      count += Number(!row.hidden);
    }
    /** @type {HTMLElement} */ (section).hidden = !any;
  }
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('.groups button'))) {
    if (button.value === `group:${group}`) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
  }
  showCount(count);
  const url = new URL(location.href);
  const state = { q: control('q').value, group, ...Object.fromEntries(TOGGLES.map((name) => [name, isOn[name] ? '1' : ''])) };
  for (const [name, value] of Object.entries(state)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

/** @param {number} count */
function showCount(count) {
  const status = document.querySelector('#shown');
  const text = `${count} of ${total()} parameters`;
  if (status && status.textContent !== text) status.textContent = text;
  let empty = /** @type {HTMLElement | null} */ (document.querySelector('#rows > .empty'));
  if (!empty && count === 0) {
    empty = document.createElement('p');
    empty.className = 'empty';
    empty.textContent = 'No parameter matches the filter.';
    document.querySelector('#summary')?.after(empty);
  }
  if (empty) empty.hidden = count > 0;
}

/** Loads the rows that the server left out of a filtered page. Rows of the page stay as they are. */
export async function complete() {
  if (!form() || document.querySelectorAll('#rows [data-group] .row').length >= total()) return;
  const url = new URL(form()?.getAttribute('action') ?? '', location.href);
  url.searchParams.set('source', control('source').value);
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const all = parse(await answer.text());
  for (const row of all.querySelectorAll('#rows [data-group] .row')) {
    const present = document.getElementById(row.id);
    if (present) row.replaceWith(present);
  }
  for (const section of document.querySelectorAll('#rows .group[data-group], #rows > .empty')) section.remove();
  document.querySelector('#summary')?.after(...all.querySelectorAll('#rows .group[data-group]'));
}

let pending = 0;

/** Applies the filter before the next frame. */
function update() {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => complete().then(apply, () => say('The server does not answer.', true)));
}

document.addEventListener('input', (event) => {
  if (!(event.target instanceof HTMLElement)) return;
  const row = event.target.closest('#rows .row');
  if (row) texts.delete(row);
  else if (event.target.closest('#form .left')) update();
});
document.addEventListener('click', (event) => {
  const button = event.target instanceof Element && event.target.closest('.groups button');
  if (!button) return;
  event.preventDefault();
  control('group').value = /** @type {HTMLButtonElement} */ (button).value.slice('group:'.length);
  update();
});

/** Gives the page an address that a reload can get: an answer to a form may have that of the review. */
function setAddress() {
  const url = new URL(form()?.getAttribute('action') ?? location.href, location.href);
  if (url.pathname === location.pathname) url.search = location.search;
  else url.searchParams.set('source', control('source').value);
  url.searchParams.delete('saved');
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

document.addEventListener('tiphys:load', () => {
  if (!form()) return;
  setAddress();
  const button = /** @type {HTMLElement | null} */ (document.querySelector('#form .apply'));
  if (button) button.hidden = true;
});
