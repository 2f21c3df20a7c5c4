// Helpers of the page. Text from outside goes into the page only as textContent.
export const byId = (id) => document.getElementById(id);

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Gives an element the colour of a kind of row. */
export function paint(element, kind) {
  element.style.setProperty('--kind', `var(--${kind})`);
  return element;
}

/** A label behind a dot in the colour of a kind. */
export function drawKey(name, kind, text, className = kind) {
  const key = paint(make(name, className, text), kind);
  key.prepend(make('span', 'dot'));
  return key;
}

export const sumOf = (values) => values.reduce((all, each) => all + each, 0);

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** The text of a unified diff, by line. */
export function drawDiff(text) {
  const block = make('pre');
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const kind = /^(?:\+\+\+|---|@@|Index|=====)/.test(line) ? 'place' : { '+': 'added', '-': 'removed' }[line[0]];
    block.append(make('span', kind, line === '' ? ' ' : line));
  }
  return block;
}

export function drawFacts(facts) {
  const table = make('dl', 'facts');
  for (const [label, value] of facts.filter((each) => each[1] !== '')) {
    const fact = make('div');
    fact.append(make('dt', '', label), make('dd', '', value));
    table.append(fact);
  }
  return table;
}
