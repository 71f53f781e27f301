/**
 * One stream of changes for all tabs of this browser: the visible tab with the lock reads it and passes the versions on.
 * It is read by `fetch`, since an EventSource shows no status and sends no `Last-Event-ID` of its own.
 */
import { changes, setLost } from '/assets/form.js';
import { compare, refresh } from '/assets/refresh.js';

const channel = new BroadcastChannel('tiphys');

/** Back-off in milliseconds. */
const [WAIT_MIN, WAIT_MAX] = [1000, 60000];

/** Failures in a row after which the page says that the server is lost. */
const LOST = 3;

/** The id of the last event of this tab. */
let last = document.body.dataset.version ?? '';

/** The newest version that is not shown yet. */
let newest = 0;

/** Shows a newer version: at once without unsaved values, else on request. @param {number} version */
function show(version) {
  newest = Math.max(newest, version);
  if (document.hidden || newest <= Number(document.body.dataset.version)) return;
  if (changes() > 0 || document.querySelector('#review')) {
    document.querySelector('#moved')?.removeAttribute('hidden');
    clearTimeout(timer);
    timer = setTimeout(() => void compare().catch(() => undefined), 200);
    return;
  }
  // Edits of several files come together.
  clearTimeout(timer);
  timer = setTimeout(() => void refresh().catch(() => document.querySelector('#moved')?.removeAttribute('hidden')), 200);
}
let timer = 0;

/** Reports the stages of requests. @param {object} detail The stages by application. */
const report = (detail) => document.dispatchEvent(new CustomEvent('tiphys:stages', { detail }));

/** Uses one event of the stream. @param {string} block Its lines. */
function receive(block) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields[name] = value ?? '';
  }
  if (fields.id) last = fields.id;
  if (fields.event === 'stages') {
    const stages = JSON.parse(fields.data ?? '{}');
    channel.postMessage({ stages });
    report(stages);
    return;
  }
  if (fields.event !== 'changed') return;
  channel.postMessage({ version: Number(fields.data), last });
  show(Number(fields.data));
}

/** Reads the stream until it ends. @param {AbortSignal} signal @returns {Promise<boolean>} Whether the browser is admitted. */
async function read(signal) {
  const headers = { accept: 'text/event-stream', 'last-event-id': last };
  const answer = await fetch('/events', { headers, signal, cache: 'no-store' });
  if (answer.status === 401) return false;
  if (!answer.ok || !answer.body) throw new Error(answer.statusText);
  failures = 0;
  setLost(false);
  let text = '';
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    const blocks = (text + value).replaceAll('\r\n', '\n').split('\n\n');
    text = blocks.pop() ?? '';
    blocks.forEach(receive);
  }
}
let failures = 0;

/** @param {number} wait Milliseconds. @param {AbortSignal} signal */
const sleep = (wait, signal) =>
  new Promise((resolve) => {
    const done = setTimeout(resolve, wait, undefined);
    signal.addEventListener('abort', () => resolve(clearTimeout(done)), { once: true });
  });

/** Reads the stream, again and again, until the tab is hidden. @param {AbortSignal} signal */
async function follow(signal) {
  while (!signal.aborted) {
    try {
      if (!(await read(signal))) return setLost(true);
    } catch {
      failures += Number(!signal.aborted);
      if (failures >= LOST) setLost(true);
    }
    const wait = Math.min(WAIT_MIN * 2 ** Math.max(failures - 1, 0), WAIT_MAX);
    await sleep(wait * (0.5 + Math.random() / 2), signal);
  }
}

/** @type {AbortController | null} */
let reading = null;

/** Waits for the lock while the tab is visible. A hidden tab leaves it to others. */
function update() {
  if (document.hidden) {
    reading?.abort();
    reading = null;
    return;
  }
  show(newest);
  if (reading) return;
  const control = new AbortController();
  reading = control;
  const { signal } = control;
  navigator.locks.request('tiphys-stream', { signal }, () => follow(signal)).catch(() => undefined);
}

channel.addEventListener('message', ({ data }) => {
  if (data.stages) return report(data.stages);
  last = data.last;
  show(data.version);
});
document.addEventListener('visibilitychange', update);
window.addEventListener('pagehide', () => reading?.abort());
document.addEventListener('click', (event) => {
  const review = document.querySelector('#review button[formaction$="/review"]');
  if (!review || !(event.target instanceof Element && event.target.closest('#moved a'))) return;
  // The review is the answer to a form: its address alone shows nothing.
  event.preventDefault();
  /** @type {HTMLElement} */ (review).click();
});
update();
