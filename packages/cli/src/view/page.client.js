// The timeline, the details and the summary: the whole of a stored session, the middle of a live one.
import { drawCharts } from './page-charts.client.js';
import { byId, drawDiff, drawFacts, drawKey, duration, fill, make, paint, sumOf } from './page-dom.client.js';

export const data = JSON.parse(byId('data').textContent);
const [list, details, search] = ['rows', 'details', 'search'].map(byId);
/** A live page adds to them and changes them, then calls `redraw`. */
export const { rows } = data;
/** The length of the session without idle time. */
let end = 1;
/** Must match the CSS of the rows. */
const rowHeight = 28;
const maxHighlights = 1000;
/** The rows that match the search, and the position of the selected one among them. */
let shown = [...rows];
let chosen = 0;
/** The row in the details. */
let detailed;

const isWrong = ({ status }) => !['', 'success', 'running'].includes(status);
const isInstant = ({ kind }) => kind === 'prompt' || kind === 'note';
const isCall = ({ status }) => status !== '';
const classOf = (row) =>
  `${row.kind}${isCall(row) ? ' call' : ''}${row.isRunning ? ' running' : ''}${isWrong(row) ? ' wrong' : ''}`;
const colourOf = (row) => (isWrong(row) ? 'wrong' : row.kind);

/** Sets where each row begins without idle time, because waiting for a person would make all else too small to see. */
function setBeginTimes() {
  for (const row of rows) {
    row.at = row.time === '' ? 0 : Date.parse(row.time);
    // In steps of a tenth of a second, so that most events change nothing else on the screen.
    if (row.isRunning) row.durationMs = Math.max(0, Math.floor((Date.now() - row.at) / 100) * 100);
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
  const element = paint(make('div', `row grid ${classOf(row)}`), colourOf(row));
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
  fill(byId('sheet'), ...near.map((row, place) => drawRow(row, first + place)));
  byId('empty').hidden = rows.length > 0;
  list.setAttribute('aria-activedescendant', byId(`row-${chosen}`)?.id ?? '');
}

/** About four marks at round values; CSS draws the lines below them. */
function drawAxis() {
  const unit = end < 120_000 ? 1 : 60_000;
  const rough = end / unit / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough) ?? rough);
  list.parentElement.style.setProperty('--step', `${(step / end) * 100}%`);
  const marks = [];
  for (let at = 0; at < end - step / 2; at += step) {
    const mark = make('small', '', at === 0 ? '0' : duration(at));
    mark.style.left = `${(at / end) * 100}%`;
    marks.push(mark);
  }
  fill(byId('axis').lastElementChild, ...(rows.length > 0 ? marks : []));
}

function drawSection({ label, type, text }) {
  const heading = make('h3', '', label);
  if (type !== 'image') return [heading, type === 'diff' ? drawDiff(text) : make('pre', '', text)];
  return [heading, Object.assign(make('img'), { src: text, alt: 'an image from the session' })];
}

/** Selects a row by its position among the visible ones. */
function choose(place) {
  chosen = place;
  const top = place * rowHeight;
  byId('sheet').style.height = `${shown.length * rowHeight}px`;
  list.scrollTop = Math.max(top + rowHeight - list.clientHeight, Math.min(top, list.scrollTop));
  drawRows();
  if (shown[place] !== detailed) drawDetails(shown[place]);
}

function drawDetails(row) {
  const { scrollTop, scrollHeight, clientHeight } = details;
  // Whoever reads the end of the details stays there.
  const isAtEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 40;
  const isNew = detailed !== row;
  detailed = row;
  if (!row) return fill(details);
  paint(details, colourOf(row));
  const { title, kind, time, durationMs, facts, sections, spent } = row;
  const took = isInstant(row) ? {} : { Duration: duration(durationMs) };
  const times = time === '' ? {} : { Started: new Date(time).toLocaleString(), ...took };
  const known = [...facts, ...Object.entries({ ...spentFacts(spent ? [spent] : []), ...times })];
  fill(details, make('h2', '', title || kind), drawFacts(known), ...sections.flatMap(drawSection));
  if (isNew || isAtEnd) details.scrollTop = isNew ? 0 : details.scrollHeight;
  highlight();
}

/** Selects the next matching row in this direction. */
function move(from, step, matches = () => true) {
  for (let place = from; place >= 0 && place < shown.length; place += step)
    if (matches(shown[place])) return choose(place);
}

const wanted = () => search.value.trim().toLowerCase();

/** Highlights what the search finds in the details. */
function highlight() {
  const text = wanted();
  CSS.highlights?.delete('found');
  if (!CSS.highlights || text === '') return;
  const ranges = [];
  const nodes = document.createTreeWalker(details, NodeFilter.SHOW_TEXT);
  while (ranges.length < maxHighlights && nodes.nextNode()) {
    const node = nodes.currentNode;
    const lower = node.data.toLowerCase();
    // Lower-casing some letters changes the length, and then the offsets would be wrong.
    if (lower.length !== node.data.length) continue;
    const place = { startContainer: node, endContainer: node };
    for (let at = lower.indexOf(text); at !== -1 && ranges.length < maxHighlights; at = lower.indexOf(text, at + 1))
      ranges.push(new StaticRange({ ...place, startOffset: at, endOffset: at + text.length }));
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}

/** All text of a row, in lower case. */
function haystack(row) {
  const texts = row.sections.filter(({ type }) => type !== 'image').map(({ text }) => text);
  row.haystack ??= [row.title, ...row.facts.flat(), ...texts].join('\n').toLowerCase();
  return row.haystack;
}

/** Whoever has the last row chosen stays at the end. */
function draw() {
  const before = shown[chosen];
  const isAtEnd = chosen >= shown.length - 1;
  const text = wanted();
  shown = rows.filter((row) => text === '' || haystack(row).includes(text));
  byId('found').textContent = text === '' ? '' : `${shown.length} of ${rows.length}`;
  setBeginTimes();
  drawSummary();
  drawAxis();
  choose(Math.max(0, isAtEnd ? shown.length - 1 : shown.indexOf(before)));
  highlight();
}

/** Rows whose content changed since they were drawn. */
const changed = new Set();
let isDue = false;

/** Draws the page anew before the next frame. */
export function redraw(row) {
  if (row) changed.add(row);
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    for (const each of changed) each.haystack = undefined;
    draw();
    if (changed.has(detailed) || detailed?.isRunning) drawDetails(detailed);
    changed.clear();
  });
}

const isPrompt = ({ kind }) => kind === 'prompt';
/** What keys do; those in one line do the same. */
export const keys = {
  'j ArrowDown': ['next', () => move(chosen + 1, 1)],
  'k ArrowUp': ['previous', () => move(chosen - 1, -1)],
  n: ['next prompt', () => move(chosen + 1, 1, isPrompt)],
  p: ['previous prompt', () => move(chosen - 1, -1, isPrompt)],
  e: ['next failed step', () => move(chosen + 1, 1, isWrong)],
  'g Home': ['first', () => move(0, 1)],
  'G End': ['last', () => move(shown.length - 1, -1)],
  Enter: ['go to the details', () => details.focus()],
  Escape: ['back to the timeline', () => list.focus()],
  '/': ['search', () => search.focus()],
  c: ['charts', () => showDialog('Charts', drawCharts(rows, data.usage?.contextWindow))],
  '?': ['show this help', showHelp],
};

function showHelp() {
  const table = make('dl');
  for (const [names, [text]] of Object.entries(keys)) {
    const term = make('dt');
    for (const name of names.split(' ')) term.append(make('kbd', '', name.replace('Arrow', '')), ' ');
    table.append(term, make('dd', '', text));
  }
  showDialog('Keys', [table]);
}

function showDialog(title, content) {
  byId('dialog-title').textContent = title;
  byId('dialog-body').replaceChildren(...content);
  byId('dialog').showModal();
  byId('dialog').scrollTop = 0;
}

/** In the details the arrow keys scroll, and in the search field letters are text. */
function isTaken(key, target) {
  if (document.querySelector('dialog[open]') || target.tagName === 'BUTTON') return true;
  if (target !== search && target.matches('input, textarea, select, summary')) return key !== 'Escape';
  if (target === search) return !['Enter', 'Escape', 'ArrowDown', 'ArrowUp'].includes(key);
  return target === details && key.length > 1 && key !== 'Escape';
}

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const [, action] = Object.entries(keys).find(([names]) => names.split(' ').includes(key)) ?? [];
  if (event.ctrlKey || event.metaKey || event.altKey || !action || isTaken(key, target)) return;
  event.preventDefault();
  if (target === search) list.focus();
  action[1]();
});
search.addEventListener('input', draw);
list.addEventListener('scroll', drawRows);
addEventListener('resize', drawRows);
list.addEventListener('click', ({ target }) => {
  const row = target.closest('.row');
  if (row) choose(Number(row.id.slice('row-'.length)));
});
byId('help-button').addEventListener('click', showHelp);
byId('charts-button').addEventListener('click', keys.c[1]);

const share = (part, whole) => (part === 0 ? '' : `${Math.round((100 * part) / whole)} %`);

/** Tokens and cost of these turns. A sum without requests whose price is not known would be wrong. */
function spentFacts(turns) {
  if (turns.length === 0) return {};
  const total = (name) => sumOf(turns.map((spent) => spent[name] ?? 0));
  const [input, cached, output, cents] = ['inputTokens', 'cachedInputTokens', 'outputTokens', 'cost'].map(total);
  const price = cents > 0 && cents < 0.5 ? '<$0.01' : `$${(cents / 100).toFixed(2)}`;
  return {
    'Tokens in': input.toLocaleString('en'),
    'From the cache': share(cached, input),
    'Tokens out': output.toLocaleString('en'),
    Cost: turns.every(({ cost }) => cost !== undefined) ? price : 'unknown',
  };
}

function drawSummary() {
  const title = data.title || (rows.find(isPrompt)?.title ?? 'Session');
  document.title = `${title.slice(0, 60)} · Lathe`;
  fill(byId('title'), title);
  const facts = Object.entries({
    Model: data.model,
    Directory: data.directory,
    Calls: rows.filter(isCall).length || '',
    'Failed or denied': rows.filter(isWrong).length || '',
    ...spentFacts(rows.flatMap(({ spent }) => spent ?? [])),
    Context: data.usage ? share(data.usage.contextTokens, data.usage.contextWindow) : '',
    'Active time': end > 1 ? duration(end) : '',
    Session: data.id.slice(0, 8),
  });
  fill(byId('summary'), ...drawFacts(facts).children);
  fill(byId('notes'), ...data.notes.map((note) => make('li', '', note)));
  fill(byId('legend'), ...Object.entries(Object.groupBy(rows, ({ kind }) => kind)).map(drawLegend));
}

function drawLegend([kind, { length, 0: first }]) {
  return drawKey('li', kind, `${length} ${kind}${length === 1 ? '' : 's'}`, isCall(first) ? 'call' : kind);
}

draw();
list.focus();
