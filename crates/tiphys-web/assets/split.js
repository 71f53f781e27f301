/** The choice between differences below each other and side by side, which this browser remembers. */

const KEY = 'tiphys:split';

document.addEventListener('change', (event) => {
  const box = event.target instanceof HTMLInputElement && event.target.id === 'split' ? event.target : null;
  if (box) localStorage.setItem(KEY, String(box.checked));
});
document.addEventListener('tiphys:load', () => {
  const box = /** @type {HTMLInputElement | null} */ (document.querySelector('#split'));
  if (box && localStorage.getItem(KEY) === 'true') box.checked = true;
});
