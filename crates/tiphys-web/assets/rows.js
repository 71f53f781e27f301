/** The buttons of rows: the server answers with the page, of which the row is taken. */
import { adopt, form, parse, posted, report, say, setLost } from '/assets/form.js';

/** Presses wait for each other, so that each acts on the answer of the one before. @type {Promise<unknown>} */
let queue = Promise.resolve();

/** @param {string} value @returns {HTMLButtonElement | null} */
const buttonOf = (value) => document.querySelector(`#rows button[name=op][value="${CSS.escape(value)}"]`);

/** @param {string} value @returns {[string, string, number]} The word, the pointer and the row of `WORD:/NAME/ROW`. */
function parts(value) {
  const [, word, pointer, row] = /^(\w+):(.*?)(?:\/(\d+))?$/s.exec(value) ?? [];
  return [word ?? '', pointer ?? '', Number(row ?? -1)];
}

/**
 * Puts the focus where the work goes on.
 * @param {HTMLElement} row The new row.
 * @param {string} value The value of the pressed button.
 * @param {boolean} byKey Whether an item was moved by keys, so that the focus belongs to its input.
 */
function focus(row, value, byKey) {
  const [word, pointer, index] = parts(value);
  const items = [...row.querySelectorAll('.rows > li')];
  const place = { add: items.length - 1, duplicate: index + 1, up: index - 1, down: index + 1, remove: Math.min(index, items.length - 1) }[word];
  const item = place === undefined ? null : items[place];
  const input = item?.querySelector('input');
  /** @type {Element | null | undefined} */
  let next = input;
  if (word === 'remove') next = items.length ? input : row.querySelector('button[value^="add:"]');
  if ((word === 'up' || word === 'down') && !byKey) {
    const same = buttonOf(`${word}:${pointer}/${place}`);
    next = same && !same.disabled ? same : input;
  }
  const other = '.control input:not([type=hidden]):checked, .control input:not([type=hidden], [type=radio]), .control :is(select, textarea, [tabindex])';
  next ??= row.querySelector('.state[tabindex]') ?? row.querySelector(other) ?? row.querySelector('button, summary');
  /** @type {HTMLElement | null} */ (next)?.focus();
  if (items.length || word === 'remove') say(`${row.dataset.name}: ${items.length} ${items.length === 1 ? 'item' : 'items'}`);
}

/**
 * Sends a button, and replaces its row by that of the answer.
 * @param {string} value The value of the button.
 * @param {boolean} byKey
 */
async function press(value, byKey) {
  const button = buttonOf(value);
  const row = /** @type {HTMLElement | null} */ (button?.closest('.row') ?? null);
  if (!button || !row || button.disabled) return;
  // The filter of the request keeps the answer short: the server shows changed rows in any case.
  const fields = { q: row.dataset.name ?? '', group: '', set: '', required: '', invalid: '', op: value };
  const body = posted();
  for (const [name, field] of Object.entries(fields)) body.set(name, field);
  row.setAttribute('aria-busy', 'true');
  const answer = await fetch(form()?.getAttribute('action') ?? '', { method: 'POST', body });
  const page = parse(await answer.text());
  row.removeAttribute('aria-busy');
  if (answer.status === 401) return setLost(true);
  const [fresh, summary] = [page.getElementById(row.id), page.querySelector('#summary')];
  if (!fresh) return say('The server does not have this row any more. Reload the page.', true);
  row.replaceWith(fresh);
  if (summary) document.querySelector('#summary')?.replaceWith(summary);
  adopt([fresh]);
  focus(fresh, value, byKey);
  report();
}

/** @param {() => unknown} work */
const enqueue = (work) => {
  queue = queue.then(work).catch(() => say('The server does not answer.', true));
};

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element && event.target.closest('#rows .row button[name=op]');
  if (!button) return;
  event.preventDefault();
  enqueue(() => press(/** @type {HTMLButtonElement} */ (button).value, false));
});

document.addEventListener('keydown', (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey || !['ArrowUp', 'ArrowDown'].includes(event.key)) return;
  if (!(event.target instanceof Element && event.target.closest('.rows li'))) return;
  event.preventDefault();
  const word = event.key === 'ArrowUp' ? 'up' : 'down';
  enqueue(() => {
    const button = document.activeElement?.closest('.rows li')?.querySelector(`button[value^="${word}:"]`);
    return button && press(/** @type {HTMLButtonElement} */ (button).value, true);
  });
});
