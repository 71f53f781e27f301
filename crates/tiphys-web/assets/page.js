/** Starts the modules of the page: those of a saved Application, then those of any form. */
import '/assets/preview.js';
import '/assets/draft.js';
import '/assets/split.js';
import '/assets/stream.js';
import '/assets/working.js';
import '/assets/trial.js';
