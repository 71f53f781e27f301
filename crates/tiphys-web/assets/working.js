/** What a request that takes long waits for, for how long it has, and a button that cancels it. */

/** Milliseconds before anything is shown. */
const PATIENCE = 700;

/** @typedef {{ application: string, begin: number, timer: number, cancel: () => void }} Work */

/** The page that is being loaded, and the effect that is being rendered. @type {Map<string, Work>} */
const works = new Map();

/** What the server does now, by application. @type {Record<string, string>} */
let stages = {};

const panel = () => /** @type {HTMLElement | null} */ (document.querySelector('#working'));

/** Shows the work that began last, if there is some. */
function show() {
  const work = [...works.values()].at(-1);
  const element = panel();
  if (!element) return;
  const waited = work ? Date.now() - work.begin : 0;
  const text = stages[work?.application ?? ''];
  element.hidden = !text || waited < PATIENCE;
  if (element.hidden) return;
  const [stage, seconds] = element.querySelectorAll('span');
  // The seconds are not announced, the stages are.
  if (stage.textContent !== text) stage.textContent = text ?? '';
  seconds.textContent = `${Math.round(waited / 1000)} s`;
}

/** Begins work on an application. The server names its stages. @param {string} kind @param {string} application @param {() => void} cancel */
export function begin(kind, application, cancel) {
  end(kind);
  works.set(kind, { application, begin: Date.now(), timer: setInterval(show, 250), cancel });
}

/** Ends work. @param {string} kind */
export function end(kind) {
  clearInterval(works.get(kind)?.timer);
  works.delete(kind);
  show();
}

/** @param {string} path @returns {string | undefined} The application that a page is about. */
const applicationOf = (path) => /^\/applications\/([^/]+\/[^/]+)/.exec(decodeURI(path))?.[1];

/** Begins to load a page: while the server works on it, this one stays. @param {string} href */
function leave(href) {
  const url = new URL(href, location.href);
  const application = url.origin === location.origin ? applicationOf(url.pathname) : undefined;
  if (application) begin('page', application, () => stop());
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('#working button')) {
    const [kind, work] = [...works].at(-1) ?? [];
    if (kind === undefined) return;
    work?.cancel();
    end(kind);
    return;
  }
  const link = /** @type {HTMLAnchorElement | null} */ (target?.closest('a[href]') ?? null);
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (link && isPlain && !event.defaultPrevented && !link.target && !link.hash) leave(link.href);
});
document.addEventListener('submit', (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!event.defaultPrevented) leave(button?.formAction || form.action);
});
document.addEventListener('tiphys:stages', (event) => {
  stages = event.detail;
  show();
});
// A page that comes back from the history of the browser waits for nothing.
window.addEventListener('pageshow', () => end('page'));
