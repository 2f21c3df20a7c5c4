// Charts of a session as plain SVG, each with its figures in words for those who do not see it.
import { byId, duration, make } from './page-dom.client.js';

const [width, height] = [520, 120];
/** More bars than this cannot be told apart; then each is the mean of several turns. */
const maxBars = 130;

function draw(name, attributes, text) {
  const element = document.createElementNS(byId('svg').namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const format = (value) => Math.round(value).toLocaleString('en');
const cents = (value) => `$${(value / 100).toFixed(value < 1 ? 4 : 2)}`;
const sum = (values) => values.reduce((all, each) => all + each, 0);

function figure(title, words, ...content) {
  const element = make('figure');
  const picture = draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}. ${words}` });
  picture.append(...content);
  element.append(make('figcaption', '', title), picture, make('p', '', words));
  return element;
}

function drawKey({ kind, label }) {
  const key = make('small', kind, label);
  key.prepend(make('span', 'dot'));
  return key;
}

/** Means of neighbours, so that no more than `maxBars` are left. */
function bars(values) {
  const size = Math.ceil(values.length / maxBars);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size);
    return sum(part) / part.length;
  });
}

/** Bars from below, each series on top of the one before. */
function columns(
  series,
  top = Math.max(...bars(series[0].values.map((_, at) => sum(series.map((s) => s.values[at]))))),
) {
  const heights = series.map(({ values }) => bars(values));
  const step = width / Math.max(12, heights[0].length);
  return heights.flatMap((each, order) =>
    each.map((value, at) => {
      const below = sum(heights.slice(0, order).map((lower) => lower[at]));
      const [from, size] = [below, value].map((part) => (part / (top || 1)) * height);
      const place = { x: at * step, y: height - from - size, width: Math.max(1, step - 1.5), height: size };
      return draw('rect', { ...place, class: series[order].kind });
    }),
  );
}

function toolChart(rows) {
  const times = new Map();
  for (const { kind, title, durationMs, status } of rows) {
    if (status === '' && kind !== 'answer') continue;
    const name = status === '' ? 'model' : title.split(' ', 1)[0];
    const known = times.get(name) ?? { kind, ms: 0 };
    times.set(name, { ...known, ms: known.ms + durationMs });
  }
  const longest = [...times].sort(([, a], [, b]) => b.ms - a.ms).slice(0, 6);
  const most = longest[0]?.[1].ms || 1;
  const content = longest.flatMap(([name, { kind, ms }], order) => {
    const y = order * 20;
    const size = (ms / most) * (width - 240);
    return [
      draw('text', { x: 0, y: y + 13 }, name.slice(0, 24)),
      draw('rect', { x: 160, y: y + 3, width: Math.max(2, size), height: 13, class: kind }),
      draw('text', { x: 168 + size, y: y + 13 }, duration(ms)),
    ];
  });
  const words = longest.map(([name, { ms }]) => `${name} ${duration(ms)}`).join(', ');
  const chart = figure('Time by tool', words, ...content);
  // The picture already has them as text.
  chart.lastChild.remove();
  return chart;
}

/** The charts that the rows have figures for. */
export function drawCharts(rows, contextWindow) {
  const turns = rows.filter(({ facts }) => facts.some(([label]) => label === 'Tokens in'));
  if (turns.length === 0) return [make('p', '', 'There are no figures yet.')];
  const values = (name) => turns.map(({ facts }) => Number(facts.find(([label]) => label === name)?.[1] ?? 0));
  const [input, cached, output, cost] = ['Tokens in', 'From the cache', 'Tokens out', 'Cost in cents'].map(values);
  const tokens = [
    { kind: 'read', label: 'in, from the cache', values: cached },
    { kind: 'answer', label: 'in, new', values: input.map((value, at) => value - cached[at]) },
    { kind: 'prompt', label: 'out', values: output },
  ];
  const most = Math.max(...input);
  const full = contextWindow
    ? ` of ${format(contextWindow)} (${((input.at(-1) / contextWindow) * 100).toFixed(1)} %)`
    : '';
  const spent = sum(cost);
  const words = `${format(sum(input))} in, ${format(sum(cached))} of them from the cache, ${format(sum(output))} out`;
  const tokenChart = figure('Tokens per turn', `${turns.length} turns: ${words}`, ...columns(tokens));
  tokenChart.append(...tokens.map(drawKey));
  return [
    tokenChart,
    ...(spent > 0
      ? [figure('Cost per turn', `${cents(spent)} in all`, ...columns([{ kind: 'command', values: cost }]))]
      : []),
    figure(
      'Context',
      `${format(input.at(-1))} tokens${full} in the last request, at most ${format(most)}`,
      ...columns([{ kind: 'answer', values: input }], contextWindow || most),
    ),
    toolChart(rows),
  ];
}
