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

document.dispatchEvent(new CustomEvent('tiphys:load'));
