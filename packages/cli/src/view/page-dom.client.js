// Helpers of the page. Text from outside goes into the page only as textContent.
export const byId = (id) => document.getElementById(id);

export function make(name, className = '', text = '') {
  return Object.assign(document.createElement(name), { className, textContent: text });
}

/** Sets the children of an element, and leaves alone those that stay the same: each new one costs style and layout. */
export function fill(element, ...children) {
  const before = [...element.childNodes];
  for (const [at, child] of children.entries()) {
    const next = typeof child === 'string' ? new Text(child) : child;
    if (!before[at]) element.append(next);
    else if (!before[at].isEqualNode(next)) before[at].replaceWith(next);
  }
  for (const rest of before.slice(children.length)) rest.remove();
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
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
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
