// The timeline, the details and the summary: the whole of a stored session, the middle of a live one.
import { drawCharts } from './page-charts.client.js';
import { byId, drawDiff, drawFacts, duration, make } from './page-dom.client.js';

export const data = JSON.parse(byId('data').textContent);
const [list, details, search, help] = ['rows', 'details', 'search', 'help'].map(byId);
/** A live page adds to them and changes them, then calls `redraw`. */
export const { rows } = data;
const kinds = {
  prompt: 'prompts',
  answer: 'turns',
  read: 'reads',
  change: 'changes',
  command: 'commands',
  web: 'web',
  other: 'other tools',
  note: 'notes',
};
/** The length of the session without idle time. */
let end = 1;
/** Must match the CSS of the rows. */
const rowHeight = 28;
/** The indexes of the visible rows, and the position of the selected one among them. */
let shown = [...rows.keys()];
let chosen = 0;

const isWrong = ({ status }) => !['', 'success', 'running'].includes(status);
const isInstant = ({ kind }) => kind === 'prompt' || kind === 'note';
const isCall = ({ status }) => status !== '';
const classOf = (row) =>
  `${row.kind}${isCall(row) ? ' call' : ''}${row.isRunning ? ' running' : ''}${isWrong(row) ? ` wrong ${row.status}` : ''}`;

/** Sets where each row begins without idle time, because waiting for a person would make all else too small to see. */
function setBeginTimes() {
  for (const row of rows) {
    row.at ??= row.time === '' ? 0 : Date.parse(row.time);
    if (row.isRunning) row.durationMs = Math.max(0, Date.now() - row.at);
  }
  let [idle, last] = [0, 0];
  for (const row of rows.filter(({ at }) => at > 0).sort((a, b) => a.at - b.at)) {
    if (row.at > last) idle += row.at - last;
    row.beginMs = row.at - idle;
    last = Math.max(last, row.at + row.durationMs);
  }
  let before = 0;
  end = 1;
  for (const row of rows) {
    if (row.at === 0) row.beginMs = before;
    before = row.beginMs + row.durationMs;
    end = Math.max(end, before);
  }
}

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
  const took = make('span', 'took', row.time === '' || isInstant(row) ? '' : duration(row.durationMs));
  element.append(make('span', 'dot'), name, took, bar);
  return element;
}

/** Creates elements only for rows near the visible ones, so that long sessions stay fast. */
function drawRows() {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 10);
  const count = Math.ceil(list.clientHeight / rowHeight) + 20;
  const near = shown.slice(first, first + count);
  byId('sheet').replaceChildren(...near.map((index, place) => drawRow(rows[index], first + place)));
  if (byId(`row-${chosen}`)) list.setAttribute('aria-activedescendant', `row-${chosen}`);
  else list.removeAttribute('aria-activedescendant');
}

/** About five marks at round values; CSS draws the lines below them. */
function drawAxis() {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough) ?? rough;
  document.body.style.setProperty('--step', `${(step / end) * 100}%`);
  const marks = [];
  for (let at = 0; at < end - step / 2; at += step) {
    const mark = make('small', '', at === 0 ? '0' : duration(at));
    mark.style.left = `${(at / end) * 100}%`;
    marks.push(mark);
  }
  byId('axis').lastElementChild.replaceChildren(...marks);
}

function drawSection({ label, type, text }) {
  if (type === 'diff') return [make('h3', '', label), drawDiff(text)];
  if (type === 'text') return [make('h3', '', label), make('pre', '', text)];
  const image = make('img');
  image.src = text;
  image.alt = 'an image from the session';
  return [make('h3', '', label), image];
}

/** Selects a row by its position among the visible ones. */
function choose(place) {
  chosen = place;
  const top = place * rowHeight;
  byId('sheet').style.height = `${shown.length * rowHeight}px`;
  list.scrollTop = Math.max(top + rowHeight - list.clientHeight, Math.min(top, list.scrollTop));
  drawRows();
  if (rows[shown[place]] !== detailed) drawDetails(rows[shown[place]]);
}

/** The row in the details. */
let detailed;

function drawDetails(row) {
  detailed = row;
  details.className = row ? classOf(row) : '';
  details.replaceChildren();
  if (!row) return;
  const { title, kind, time, durationMs, facts, sections } = row;
  const took = isInstant(row) ? {} : { Duration: duration(durationMs) };
  const times = { Started: new Date(time).toLocaleString(), ...took };
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

const haystacks = new WeakMap();
function haystack(row) {
  const { title, facts, sections } = row;
  const texts = sections.filter(({ type }) => type !== 'image').map(({ text }) => text);
  if (!haystacks.has(row)) haystacks.set(row, [title, ...facts.flat(), ...texts].join('\n').toLowerCase());
  return haystacks.get(row);
}

function filter() {
  const text = wanted();
  shown = [...rows.keys()].filter((index) => text === '' || haystack(rows[index]).includes(text));
  byId('found').textContent = text === '' ? '' : `${shown.length} of ${rows.length}`;
}

function find() {
  const before = shown[chosen];
  filter();
  choose(Math.max(0, shown.indexOf(before)));
  highlight();
}

/** Rows whose content changed since they were drawn. */
const changed = new Set();
let isDue = false;

/** Draws the page anew before the next frame. Whoever has the last row chosen stays at the end. */
export function redraw(row) {
  if (row) changed.add(row);
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const isAtEnd = chosen >= shown.length - 1;
    const before = shown[chosen];
    for (const each of changed) haystacks.delete(each);
    filter();
    setBeginTimes();
    drawSummary();
    drawAxis();
    choose(Math.max(0, isAtEnd ? shown.length - 1 : shown.indexOf(before)));
    if (detailed && changed.has(detailed)) updateDetails();
    changed.clear();
  });
}

function updateDetails() {
  const { scrollTop, scrollHeight, clientHeight } = details;
  drawDetails(detailed);
  details.scrollTop = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 40 ? details.scrollHeight : scrollTop;
}

const isPrompt = ({ kind }) => kind === 'prompt';
export const keys = {
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
  c: showCharts,
};

/** In the details the arrow keys scroll, and in the search field letters are text. */
function isTaken(key, target) {
  if (document.querySelector('dialog[open]') || target.tagName === 'BUTTON') return true;
  if (target !== search && target.matches('input, textarea, select, summary')) return key !== 'Escape';
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
byId('charts-button').addEventListener('click', showCharts);

function showCharts() {
  byId('charts-body').replaceChildren(...drawCharts(rows, data.contextWindow));
  byId('charts').showModal();
}

const share = (part, whole) => (part === 0 ? '' : `${Math.round((100 * part) / whole)} %`);

/** A sum without the requests whose price is not known would be wrong. */
function costOf(priced, all, cents) {
  if (all === 0) return '';
  if (priced < all) return 'unknown';
  return cents > 0 && cents < 0.5 ? '<$0.01' : `$${(cents / 100).toFixed(2)}`;
}

function drawSummary() {
  const sums = new Map();
  for (const [label, value] of rows.flatMap(({ facts }) => facts)) {
    const { count, sum } = sums.get(label) ?? { count: 0, sum: 0 };
    sums.set(label, { count: count + 1, sum: sum + Number(value) });
  }
  const [input, cached, output, cost] = ['Tokens in', 'From the cache', 'Tokens out', 'Cost in cents'].map(
    (label) => sums.get(label) ?? { count: 0, sum: 0 },
  );
  const title = data.title || (rows.find(isPrompt)?.title ?? 'Session');
  document.title = `${title.slice(0, 60)} · Lathe`;
  byId('title').textContent = title;
  const facts = Object.entries({
    Model: data.model,
    Directory: data.directory,
    Calls: rows.filter(isCall).length,
    'Failed or denied': rows.filter(isWrong).length,
    'Tokens in': input.sum.toLocaleString('en'),
    'From the cache': share(cached.sum, input.sum),
    'Tokens out': output.sum.toLocaleString('en'),
    Cost: costOf(cost.count, input.count, cost.sum),
    Context: data.contextWindow ? share(data.contextTokens, data.contextWindow) : '',
    'Active time': duration(end),
    Session: data.id.slice(0, 8),
  });
  byId('summary').replaceChildren(...drawFacts(facts.filter(([, value]) => value !== '')).children);
  byId('notes').replaceChildren(...data.notes.map((note) => make('li', '', note)));
  byId('legend').replaceChildren(...Object.entries(kinds).flatMap(([kind, label]) => drawLegend(kind, label)));
}

function drawLegend(kind, label) {
  const count = rows.filter((row) => row.kind === kind).length;
  const item = make('li', ['prompt', 'answer', 'note'].includes(kind) ? kind : `${kind} call`, `${count} ${label}`);
  item.prepend(make('span', 'dot'));
  return count > 0 ? [item] : [];
}

setBeginTimes();
drawSummary();
drawAxis();
choose(0);
list.focus();
