/* Filters a report in place: an object is shown if it or its application contains the text. */
const search = /** @type {HTMLInputElement | null} */ (document.querySelector('input[type=search]'));
const shown = document.querySelector('#shown');

/** @param {Iterable<Element>} elements @returns {string} */
const textOf = (elements) => [...elements].map((one) => one.textContent).join('\n').toLowerCase();

/** The elements of each application with their text. @type {{element: any, text: string, objects: {element: any, text: string}[]}[]} */
let applications = [];

function read() {
  applications = [...document.querySelectorAll('.panel')].map((element) => ({
    element,
    text: textOf(element.querySelectorAll(':scope > :not(.object, .counts, .empty)')),
    objects: [...element.querySelectorAll(':scope > .object')].map((one) => ({ element: one, text: textOf([one]) })),
  }));
}

function apply() {
  if (!search || !shown) return;
  if (applications.length === 0) read();
  const text = search.value.trim().toLowerCase();
  let [count, all] = [0, 0];
  for (const { element, text: own, objects } of applications) {
    const matches = own.includes(text);
    let any = matches;
    for (const object of objects) {
      object.element.hidden = !matches && !object.text.includes(text);
      any ||= !object.element.hidden;
      count += Number(!object.element.hidden);
    }
    all += objects.length;
    element.hidden = !any;
  }
  shown.textContent = text ? `${count} of ${all} objects` : '';
}

if (search) {
  search.labels?.[0]?.removeAttribute('hidden');
  search.addEventListener('input', apply);
  // A browser restores the value when the page is loaded again.
  if (search.value) apply();
}
