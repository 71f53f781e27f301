/** The effect of the unsaved values beside the form, and the problems of the values under their controls. */
import { changes, form, parse, posted, rows, say, setLost, setProblems } from '/assets/form.js';
import { begin, end } from '/assets/working.js';

const panel = () => /** @type {HTMLElement | null} */ (document.querySelector('#preview'));

/** Milliseconds without a key before the effect is requested. */
const PAUSE = 400;

let timer = 0;

/** Ends the request for the effect. */
let request = new AbortController();

/** Links to the problems of the answer by the ids of fields. @returns {Map<string, Element[]>} */
function problems() {
  const found = new Map();
  for (const link of panel()?.querySelectorAll('.problem[data-for] > a') ?? []) {
    const id = link.parentElement?.dataset.for;
    found.set(id, [...(found.get(id) ?? []), link]);
  }
  return found;
}

/** @param {Element} link @param {string | undefined} name @returns {Node[]} The text of a problem without the name of its row. */
function textOf(link, name) {
  const copy = link.cloneNode(true);
  copy.normalize();
  const first = copy.firstChild;
  if (first?.nodeValue?.startsWith(`${name}: `)) first.nodeValue = first.nodeValue.slice(`${name}: `.length);
  return [...copy.childNodes];
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
    const links = found.get(row.id.replace(/-row$/, '')) ?? [];
    setProblems(row, links.map((link) => textOf(link, row.dataset.name)));
  }
  setReason(panel()?.querySelector('.problem[data-for]'));
  summarize();
  if (!panel()?.children.length) note('The files have these values.');
}

/** Brings the summary of the server's last page up to date. */
function summarize() {
  const section = /** @type {HTMLElement | null} */ (document.querySelector('#summary section'));
  const [title, list] = [section?.querySelector('h2'), section?.querySelector('ul')];
  if (!section || !title || !list) return;
  const entered = [...(panel()?.querySelectorAll('.problem[data-for] > a') ?? [])].map((link) => {
    const item = document.createElement('li');
    item.append(link.cloneNode(true));
    return item;
  });
  const saved = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[data-for]')]);
  for (const item of saved) item.hidden = document.getElementById(`${item.dataset.for}-row`)?.classList.contains('changed') ?? false;
  list.replaceChildren(...entered, ...saved);
  const count = list.querySelectorAll('li:not([hidden])').length;
  title.textContent = `${count} invalid`;
  section.hidden = count === 0;
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
  const message = parse(html).querySelector('main p')?.textContent;
  note(message ?? 'The server cannot show the effect.', 'notice bad');
}

/** Shows the answer to the present values. @param {Response} answer @param {string} html */
function show(answer, html) {
  if (answer.status === 401) return setLost(true);
  if (!answer.ok) return fail(html);
  panel()?.replaceChildren(...parse(html).body.childNodes);
  apply();
}

/** Asks for the effect of the present values. */
async function render() {
  const { signal } = request;
  panel()?.setAttribute('aria-busy', 'true');
  begin('effect', form()?.dataset.application ?? '', () => {
    stop();
    note('Cancelled. Change a value to see the effect on the manifests.');
  });
  try {
    const answer = await fetch(panel()?.dataset.from ?? '', { method: 'POST', body: posted(), signal });
    const html = await answer.text();
    stop();
    show(answer, html);
  } catch {
    if (signal.aborted) return;
    stop();
    say('The server does not answer.', true);
  }
}

/** Drops the request for older values. */
function stop() {
  clearTimeout(timer);
  request.abort();
  request = new AbortController();
  panel()?.removeAttribute('aria-busy');
  end('effect');
}

/** Asks for the effect when no key was pressed for a while. */
function update() {
  if (!panel() || !form()) return;
  stop();
  if (changes() > 0) timer = setTimeout(() => void render(), PAUSE);
  else clear();
}

document.addEventListener('tiphys:form', update);
document.addEventListener('tiphys:load', update);
document.addEventListener('submit', (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (event.target !== form() || button?.name !== 'op' || button.value !== 'check') return;
  // Enter in a field: the effect checks the values without a new page.
  event.preventDefault();
  update();
});
