// Runs in the browser. Everything from the session is text: it goes into the page as textContent only.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  const [list, details, search, help] = ['rows', 'details', 'search', 'help'].map(byId);
  const { rows } = data;
  const end = Math.max(1, latest());
  let chosen = -1;

  function latest() {
    return rows.reduce((last, row) => Math.max(last, row.beginMs + row.durationMs), 0);
  }

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

  function drawRow(row, index) {
    const element = make('div', `row ${row.kind}${isWrong(row) ? ' wrong' : ''}`);
    element.id = `row-${index}`;
    element.setAttribute('role', 'option');
    element.setAttribute('aria-selected', 'false');
    const bar = make('span', 'bar');
    const part = make('i');
    part.style.left = `${(row.beginMs / end) * 100}%`;
    part.style.width = `${(row.durationMs / end) * 100}%`;
    bar.append(part);
    const name = make('span', 'name', row.title || row.kind);
    const took = make('span', 'took', row.time === '' ? '' : duration(row.durationMs));
    element.append(make('span', 'dot'), name, took, bar);
    return element;
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
    image.alt = 'an image of the session';
    return [make('h3', '', label), image];
  }

  function choose(index) {
    const element = list.children[index];
    if (!element) return;
    list.children[chosen]?.setAttribute('aria-selected', 'false');
    chosen = index;
    element.setAttribute('aria-selected', 'true');
    list.setAttribute('aria-activedescendant', element.id);
    element.scrollIntoView({ block: 'nearest' });
    const row = rows[index];
    const facts = make('ul', 'facts');
    const times =
      row.time === ''
        ? []
        : [
            ['Began', new Date(row.time).toLocaleString()],
            ['Took', duration(row.durationMs)],
          ];
    for (const [label, value] of [...row.facts, ...times]) facts.append(make('li', '', `${label}: ${value}`));
    const children = facts.children.length > 0 ? [facts] : [];
    details.replaceChildren(make('h2', '', row.title || row.kind), ...children, ...row.sections.flatMap(drawSection));
    details.scrollTop = 0;
  }

  /** The next row in this direction that the search left. */
  function move(from, step) {
    for (let index = from; index >= 0 && index < rows.length; index += step)
      if (!list.children[index].hidden) return choose(index);
  }

  const haystacks = [];
  function haystack(index) {
    const { title, facts, sections } = rows[index];
    haystacks[index] ??= [
      title,
      ...facts.flat(),
      ...sections.flatMap(({ type, text }) => (type === 'image' ? [] : text)),
    ]
      .join('\n')
      .toLowerCase();
    return haystacks[index];
  }

  function find() {
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    rows.forEach((_row, index) => {
      const isFound = wanted === '' || haystack(index).includes(wanted);
      list.children[index].hidden = !isFound;
      if (isFound) count++;
    });
    byId('found').textContent = wanted === '' ? '' : `${count} of ${rows.length}`;
    if (chosen === -1 || list.children[chosen].hidden) move(0, 1);
  }

  const keys = {
    j: () => move(chosen + 1, 1),
    ArrowDown: () => move(chosen + 1, 1),
    k: () => move(chosen - 1, -1),
    ArrowUp: () => move(chosen - 1, -1),
    g: () => move(0, 1),
    Home: () => move(0, 1),
    G: () => move(rows.length - 1, -1),
    End: () => move(rows.length - 1, -1),
    Enter: () => details.focus(),
    Escape: () => list.focus(),
    '/': () => search.focus(),
    '?': () => help.showModal(),
  };

  /** In the details the arrows scroll, and in the search field letters are letters. */
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
  list.addEventListener('click', ({ target }) => {
    const element = target.closest('.row');
    if (element) choose([...list.children].indexOf(element));
  });
  byId('help-button').addEventListener('click', () => help.showModal());

  const sum = (label) =>
    rows.flatMap(({ facts }) => facts).reduce((all, [name, value]) => all + (name === label ? Number(value) : 0), 0);
  const count = (kind) => rows.filter((row) => row.kind === kind).length;
  const title = rows.find(({ kind }) => kind === 'prompt')?.title ?? 'Session';
  document.title = `${title.slice(0, 60)} · Lathe`;
  byId('title').textContent = title;
  byId('summary').textContent = [
    data.model,
    data.directory,
    `${count('prompt')} prompts`,
    `${count('answer')} turns`,
    `${count('call')} calls, ${rows.filter(isWrong).length} not successful`,
    `${sum('Tokens in').toLocaleString('en')} tokens in, ${sum('Tokens out').toLocaleString('en')} out`,
    duration(latest()),
    data.id.slice(0, 8),
  ]
    .filter((each) => each !== '')
    .join('  ·  ');
  for (const note of data.notes) byId('notes').append(make('li', '', note));
  const drawn = document.createDocumentFragment();
  rows.forEach((row, index) => drawn.append(drawRow(row, index)));
  list.append(drawn);
  choose(0);
  list.focus();
})();
