/** Starts the modules of a form, which are all that a trial needs. Everything works without them, by full pages. */
import '/assets/form.js';
import '/assets/filter.js';
import '/assets/rows.js';
import '/assets/keys.js';

document.dispatchEvent(new CustomEvent('tiphys:load'));
