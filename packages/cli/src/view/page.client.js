// Runs in the browser as a module. Text from the session goes into the page only as textContent.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const [list, details, search, help] = ['rows', 'details', 'search', 'help'].map(byId);
const { rows } = data;
const kinds = {
  prompt: 'prompts',
  answer: 'turns',
  read: 'reads',
  change: 'changes',
  command: 'commands',
  web: 'web',
  other: 'other tools',
};
const end = Math.max(
  1,
  rows.reduce((last, row) => Math.max(last, row.beginMs + row.durationMs), 0),
);
/** Must match the CSS of the rows. */
const rowHeight = 28;
/** The indexes of the visible rows, and the position of the selected one among them. */
let shown = [...rows.keys()];
let chosen = 0;

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

const isWrong = ({ status }) => status !== '' && status !== 'success';
const isCall = ({ status }) => status !== '';
const classOf = (row) => `${row.kind}${isCall(row) ? ' call' : ''}${isWrong(row) ? ` wrong ${row.status}` : ''}`;

function drawRow(row, place) {
  const element = make('div', `row grid ${classOf(row)}`);
  element.id = `row-${place}`;
  element.style.top = `${place * rowHeight}px`;
  element.role = 'option';
  element.ariaSelected = String(place === chosen);
  element.ariaPosInSet = String(place + 1);
  element.ariaSetSize = String(shown.length);
  const bar = make('span', 'bar');
  const part = make('i');
  part.style.left = `${Math.min(99.5, (row.beginMs / end) * 100)}%`;
  part.style.width = `${(row.durationMs / end) * 100}%`;
  bar.append(part);
  const name = make('span', 'name', row.title || row.kind);
  if (isWrong(row)) name.prepend(make('b', 'state', row.status), ' ');
  const took = make('span', 'took', row.time === '' ? '' : duration(row.durationMs));
  element.append(make('span', 'dot'), name, took, bar);
  return element;
}

/** Creates elements only for rows near the visible ones, so that long sessions stay fast. */
function drawRows() {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 10);
  const count = Math.ceil(list.clientHeight / rowHeight) + 20;
  const near = shown.slice(first, first + count);
  const sheet = byId('sheet');
  sheet.style.height = `${shown.length * rowHeight}px`;
  sheet.replaceChildren(...near.map((index, place) => drawRow(rows[index], first + place)));
  if (byId(`row-${chosen}`)) list.setAttribute('aria-activedescendant', `row-${chosen}`);
  else list.removeAttribute('aria-activedescendant');
}

/** About five marks at round values; CSS draws the lines below them. */
function drawAxis() {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough) ?? rough;
  document.body.style.setProperty('--step', `${(step / end) * 100}%`);
  for (let at = 0; at < end - step / 2; at += step) {
    const mark = make('small', '', at === 0 ? '0' : duration(at));
    mark.style.left = `${(at / end) * 100}%`;
    byId('axis').lastElementChild.append(mark);
  }
}

function drawDiff(text) {
  const block = make('pre');
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const kind = /^(?:\+\+\+|---|@@|Index|=====)/.test(line) ? 'place' : { '+': 'added', '-': 'removed' }[line[0]];
    block.append(make('span', kind ?? 'same', line === '' ? ' ' : line));
  }
  return block;
}

function drawSection({ label, type, text }) {
  if (type === 'diff') return [make('h3', '', label), drawDiff(text)];
  if (type === 'text') return [make('h3', '', label), make('pre', '', text)];
  const image = make('img');
  image.src = text;
  image.alt = 'an image from the session';
  return [make('h3', '', label), image];
}

function drawFacts(facts) {
  const table = make('dl', 'facts');
  for (const [label, value] of facts) {
    const fact = make('div');
    fact.append(make('dt', '', label), make('dd', '', value));
    table.append(fact);
  }
  return table;
}

/** Selects a row by its position among the visible ones. */
function choose(place) {
  chosen = place;
  const top = place * rowHeight;
  list.scrollTop = Math.max(top + rowHeight - list.clientHeight, Math.min(top, list.scrollTop));
  drawRows();
  drawDetails(rows[shown[place]]);
}

function drawDetails(row) {
  details.className = row ? classOf(row) : '';
  details.replaceChildren();
  if (!row) return;
  const { title, kind, time, durationMs, facts, sections } = row;
  const times = { Started: new Date(time).toLocaleString(), Duration: duration(durationMs) };
  const known = [...facts, ...(time === '' ? [] : Object.entries(times))];
  details.append(make('h2', '', title || kind), drawFacts(known), ...sections.flatMap(drawSection));
  details.scrollTop = 0;
  highlight();
}

/** Selects the next matching row in this direction. */
function move(from, step, matches = () => true) {
  for (let place = from; place >= 0 && place < shown.length; place += step)
    if (matches(rows[shown[place]])) return choose(place);
}

const wanted = () => search.value.trim().toLowerCase();

/** Highlights up to 1000 matches of the search in the details. */
function highlight() {
  if (!CSS.highlights) return;
  const ranges = [];
  const texts = document.createTreeWalker(details, NodeFilter.SHOW_TEXT);
  while (wanted() !== '' && texts.nextNode() && ranges.length < 1000) {
    const node = texts.currentNode;
    const text = node.data.toLowerCase();
    // Lower-casing some letters changes the length, and then the offsets would be wrong.
    if (text.length !== node.data.length) continue;
    for (let at = text.indexOf(wanted()); at !== -1 && ranges.length < 1000; at = text.indexOf(wanted(), at + 1))
      ranges.push(
        new StaticRange({
          startContainer: node,
          startOffset: at,
          endContainer: node,
          endOffset: at + wanted().length,
        }),
      );
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}

const haystacks = [];
function haystack(index) {
  const { title, facts, sections } = rows[index];
  const texts = sections.filter(({ type }) => type !== 'image').map(({ text }) => text);
  haystacks[index] ??= [title, ...facts.flat(), ...texts].join('\n').toLowerCase();
  return haystacks[index];
}

function find() {
  const before = shown[chosen];
  const text = wanted();
  shown = [...rows.keys()].filter((index) => text === '' || haystack(index).includes(text));
  byId('found').textContent = text === '' ? '' : `${shown.length} of ${rows.length}`;
  choose(Math.max(0, shown.indexOf(before)));
}

const isPrompt = ({ kind }) => kind === 'prompt';
const keys = {
  j: () => move(chosen + 1, 1),
  ArrowDown: () => move(chosen + 1, 1),
  k: () => move(chosen - 1, -1),
  ArrowUp: () => move(chosen - 1, -1),
  n: () => move(chosen + 1, 1, isPrompt),
  p: () => move(chosen - 1, -1, isPrompt),
  e: () => move(chosen + 1, 1, isWrong),
  g: () => move(0, 1),
  Home: () => move(0, 1),
  G: () => move(shown.length - 1, -1),
  End: () => move(shown.length - 1, -1),
  Enter: () => details.focus(),
  Escape: () => list.focus(),
  '/': () => search.focus(),
  '?': () => help.showModal(),
};

/** In the details the arrow keys scroll, and in the search field letters are text. */
function isTaken(key, target) {
  if (help.open || target.tagName === 'BUTTON') return true;
  if (target === search) return !['Enter', 'Escape', 'ArrowDown', 'ArrowUp'].includes(key);
  return target === details && key.length > 1 && key !== 'Escape';
}

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, key) || isTaken(key, target)) return;
  event.preventDefault();
  if (target === search) list.focus();
  keys[key]();
});
search.addEventListener('input', find);
list.addEventListener('scroll', drawRows);
addEventListener('resize', drawRows);
list.addEventListener('click', ({ target }) => {
  const row = target.closest('.row');
  if (row) choose(Number(row.id.slice('row-'.length)));
});
byId('help-button').addEventListener('click', () => help.showModal());

const share = (part, whole) => (part === 0 ? '' : `${Math.round((100 * part) / whole)} %`);

/** A sum without the requests whose price is not known would be wrong. */
function costOf(priced, all, cents) {
  if (all === 0) return '';
  if (priced < all) return 'unknown';
  return cents > 0 && cents < 0.5 ? '<$0.01' : `$${(cents / 100).toFixed(2)}`;
}

function drawSummary() {
  const figures = (label) => rows.flatMap(({ facts }) => facts.filter(([name]) => name === label));
  const sum = (label) => figures(label).reduce((all, [, value]) => all + Number(value), 0);
  const title = rows.find(isPrompt)?.title ?? 'Session';
  document.title = `${title.slice(0, 60)} · Lathe`;
  byId('title').textContent = title;
  const facts = Object.entries({
    Model: data.model,
    Directory: data.directory,
    Calls: rows.filter(isCall).length,
    'Failed or denied': rows.filter(isWrong).length,
    'Tokens in': sum('Tokens in').toLocaleString('en'),
    'From the cache': share(sum('From the cache'), sum('Tokens in')),
    'Tokens out': sum('Tokens out').toLocaleString('en'),
    Cost: costOf(figures('Cost in cents').length, figures('Tokens in').length, sum('Cost in cents')),
    'Active time': duration(end),
    Session: data.id.slice(0, 8),
  });
  byId('summary').replaceChildren(...drawFacts(facts.filter(([, value]) => value !== '')).children);
  for (const note of data.notes) byId('notes').append(make('li', '', note));
  for (const [kind, label] of Object.entries(kinds)) {
    const count = rows.filter((row) => row.kind === kind).length;
    const item = make('li', kind === 'prompt' || kind === 'answer' ? kind : `${kind} call`, `${count} ${label}`);
    item.prepend(make('span', 'dot'));
    if (count > 0) byId('legend').append(item);
  }
}

drawSummary();
drawAxis();
choose(0);
list.focus();
