/** Keys: `/` search, `j` `k` rows of the table, `g a` applications, `n` `p` objects of a difference, `Esc` closes what is open. */

/** Milliseconds between the keys of `g a`. */
const SEQUENCE = 1500;

/** When `g` was pressed. */
let prefix = -SEQUENCE;

/** @param {EventTarget | null} target @returns {boolean} Whether keys are text. */
const isTyping = (target) => target instanceof Element && target.matches('input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]');

/** Moves the focus to the next of some elements. @param {string} selector @param {number} step 1 or -1. */
function move(selector, step) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]).filter((one) => one.checkVisibility());
  const active = document.activeElement;
  const owner = active?.closest('tr, .object');
  const at = all.findIndex((one) => one === active || (owner && one.closest('tr, .object') === owner));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.focus();
  next?.closest('tr, .object')?.scrollIntoView({ block: 'nearest' });
}

/** Closes the innermost open details that are no object of a difference. @param {Element | null} active @returns {boolean} */
function close(active) {
  const open = /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll('details[open]:not(.object)')]);
  const own = open.filter((one) => one.contains(active));
  const top = own.at(-1) ?? open.filter((one) => one.matches('.more')).at(-1) ?? open.at(-1);
  if (!top) return false;
  top.open = false;
  top.querySelector('summary')?.focus();
  return true;
}

/** @type {Record<string, () => void>} */
const KEYS = {
  '/': () => {
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector('#filter') ?? document.querySelector('#search'));
    field?.focus();
    field?.select();
  },
  j: () => move('tbody th a', 1),
  k: () => move('tbody th a', -1),
  n: () => move('.object > summary', 1),
  p: () => move('.object > summary', -1),
  g: () => {
    prefix = performance.now();
  },
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === 'Escape') {
    if (close(document.activeElement)) event.preventDefault();
    return;
  }
  if (isTyping(event.target)) return;
  if (event.key === 'a' && performance.now() - prefix < SEQUENCE) {
    const list = /** @type {HTMLAnchorElement | null} */ (document.querySelector('nav a[href="/applications"]'));
    if (!list) return;
    event.preventDefault();
    list.click();
    return;
  }
  prefix = -SEQUENCE;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

/** A click elsewhere closes the menus of rows. */
document.addEventListener('click', (event) => {
  for (const menu of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll('.more[open]'))) {
    if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
  }
});
