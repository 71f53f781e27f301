/** Starts the modules of the page. Everything works without them, by full pages. */
import '/assets/form.js';
import '/assets/preview.js';
import '/assets/filter.js';
import '/assets/draft.js';
import '/assets/rows.js';
import '/assets/keys.js';
import '/assets/split.js';
import '/assets/stream.js';
import '/assets/working.js';

const start = () => document.dispatchEvent(new CustomEvent('tiphys:load'));

// htmx finds the attributes of the preview before this, in a task of its own.
if (document.readyState === 'complete') start();
else document.addEventListener('DOMContentLoaded', () => setTimeout(start));
