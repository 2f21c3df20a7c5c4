// Charts of a session, each with its figures in words for those who do not see it.
import { drawKey, duration, make, paint, sumOf } from './page-dom.client.js';

/** More bars than this cannot be told apart; then each is the mean of several turns. */
const maxBars = 130;
const maxTools = 8;

const format = (value) => Math.round(value).toLocaleString('en');
const cents = (value) => `$${(value / 100).toFixed(value < 1 ? 4 : 2)}`;

function figure(title, words, kind, content) {
  const element = make('figure');
  const picture = make('div', kind);
  picture.role = 'img';
  picture.ariaLabel = `${title}. ${words}`;
  picture.append(...content);
  element.append(make('figcaption', '', title), picture, make('p', '', words));
  return element;
}

/** `side`: `width` or `height`. */
function drawBar(kind, side, share) {
  const bar = paint(make('i'), kind);
  bar.style[side] = `${share * 100}%`;
  return bar;
}

/** Means of neighbours, so that no more than `maxBars` are left. */
function means(values) {
  const size = Math.ceil(values.length / maxBars);
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size);
    return sumOf(part) / part.length;
  });
}

/** A column for each turn, in which each series is on top of the one before. */
function columns(series, most) {
  const heights = series.map(({ values }) => means(values));
  const top = most ?? Math.max(...heights[0].map((_, at) => sumOf(heights.map((each) => each[at]))));
  return heights[0].map((_, at) => {
    const column = make('span');
    column.append(...series.map(({ kind }, order) => drawBar(kind, 'height', heights[order][at] / (top || 1))));
    return column;
  });
}

function toolChart(rows) {
  const times = new Map();
  for (const { kind, title, durationMs, status } of rows) {
    if (status === '' && kind !== 'answer') continue;
    const name = status === '' ? 'model' : title.split(' ', 1)[0];
    const known = times.get(name) ?? { kind, ms: 0 };
    times.set(name, { ...known, ms: known.ms + durationMs });
  }
  const longest = [...times].sort(([, a], [, b]) => b.ms - a.ms).slice(0, maxTools);
  const most = longest[0]?.[1].ms || 1;
  const content = longest.flatMap(([name, { kind, ms }]) => {
    const bar = make('span');
    bar.append(drawBar(kind, 'width', ms / most));
    return [make('span', 'name', name), bar, make('span', 'took', duration(ms))];
  });
  const total = duration(sumOf(longest.map(([, { ms }]) => ms)));
  return figure('Time by tool', `${total}, most of it in ${longest[0]?.[0]}`, 'times', content);
}

/** The charts that the rows have figures for. */
export function drawCharts(rows, contextWindow) {
  const turns = rows.flatMap(({ spent }) => spent ?? []);
  if (turns.length === 0) return [make('p', '', 'There are no figures yet.')];
  const values = (name) => turns.map((spent) => spent[name] ?? 0);
  const [input, cached, output, cost] = ['inputTokens', 'cachedInputTokens', 'outputTokens', 'cost'].map(values);
  const tokens = [
    { kind: 'read', label: 'in, from the cache', values: cached },
    { kind: 'answer', label: 'in, new', values: input.map((value, at) => value - cached[at]) },
    { kind: 'prompt', label: 'out', values: output },
  ];
  const [last, most] = [input.at(-1), Math.max(...input)];
  const full = contextWindow ? ` of ${format(contextWindow)} (${((last / contextWindow) * 100).toFixed(1)} %)` : '';
  const [all, old, written] = [input, cached, output].map((each) => format(sumOf(each)));
  const words = `${turns.length} turns: ${all} in, ${old} of them from the cache, ${written} out`;
  const tokenChart = figure('Tokens per turn', words, 'columns', columns(tokens));
  tokenChart.append(...tokens.map(({ kind, label }) => drawKey('small', kind, label)));
  const contextWords = `${format(last)} tokens${full} in the last request, at most ${format(most)}`;
  const context = columns([{ kind: 'answer', values: input }], contextWindow || most);
  const costs = columns([{ kind: 'command', values: cost }]);
  return [
    tokenChart,
    ...(sumOf(cost) > 0 ? [figure('Cost per turn', `${cents(sumOf(cost))} in all`, 'columns', costs)] : []),
    figure('Context', contextWords, 'columns', context),
    toolChart(rows),
  ];
}
