// RESULTS.md from the kept results, and the lines of a run.
import { writeFileSync } from 'node:fs';
import { round } from './judge.mjs';
import { reasons } from './reasons.mjs';

/** One contestant in the terminal. */
export function line(name, result, raw) {
  const label = `  ${name.padEnd(17)}`;
  if (result.missing) return `${label} ${result.missing}`;
  if (result.count !== undefined) return `${label} ${round(result.count)}`;
  const ratio = raw?.time ? `  ${round(result.time / raw.time)} × raw` : '';
  const doubt = result.error ? `  ${result.error}` : result.isRight ? '' : '  WRONG ANSWER';
  const rest = `+${round(result.memory)} MB  stall ${round(result.stall)} ms  out ${result.output}${doubt}`;
  return `${label} ${milliseconds(result.time).padStart(9)}${ratio}  ${rest}`;
}

export function writeReport(path, { about, cases }) {
  const all = Object.values(cases);
  const groups = groupBy(all, ({ group }) => group);
  const goals = all.flatMap(({ verdicts }) => verdicts);
  const sections = [...groups].map(([name, list]) => section(name, list));
  const text = `# Results

Measured by \`npm run bench\` on ${about.date}: Node ${about.node}, ${about.machine}; load average ${span(all.map(({ load }) => load))}.${busy(about, all)}
Peers: ${Object.entries(about.versions ?? {})
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}.

Each case runs Lathe, the peers and the raw limit in turns, each in its own process. Figures are medians. Memory is the peak above
what the process used before the call, stall the longest time in which its event loop did not run. **×** is the ratio to the raw
limit of the same run: a plain program or system call that does the least possible work. Read ratios, not times. _wrong_: the
answer lacks what was asked for. n/a: the peer has no such tool.

${goals.filter(({ isMet }) => isMet).length} of ${goals.length} goals are met.

![Ratios](results.svg)

${sections.join('\n')}
${growthSection(all)}
${behindSection(all)}`;
  writeFileSync(path, `${text.trimEnd()}\n`);
}

function section(name, list) {
  const rows = list.filter(({ growth }) => !growth);
  if (rows.length === 0) return '';
  const names = [...new Set(rows.flatMap(({ results }) => Object.keys(results)))];
  const order = ['raw', 'lathe', ...names.filter((one) => one !== 'raw' && one !== 'lathe')].filter((one) =>
    names.includes(one),
  );
  const body = rows.map((row) => [
    row.note ? `${row.name} (${row.note})` : row.name,
    ...order.map((one) => cell(row.results[one], row)),
    row.verdicts.map(({ text, isMet }) => (isMet ? text : `**missed**: ${text}`)).join('<br>'),
  ]);
  return `## ${name}\n\n${table(['', ...order, 'goals'], body)}\n`;
}

function cell(result, { results: { raw }, unit, isRefusal }) {
  if (!result) return '';
  if (result.missing) return result.missing;
  if (result.count !== undefined) return `${round(result.count)} ${unit}`;
  const parts = [milliseconds(result.time)];
  if (raw && raw !== result && raw.time) parts.push(`**${round(result.time / raw.time)} ×**`);
  if (raw !== result && result.memory >= 1) parts.push(`+${round(result.memory)} MB`);
  if (result.stall > 50) parts.push(`stall ${milliseconds(result.stall)}`);
  if (result.output > 200_000) parts.push(`output ${round(result.output / 1e6)} MB`);
  if (result.error && !isRefusal) parts.push(`_${withoutFolders(result.error).slice(0, 60)}_`);
  else if (!result.isRight) parts.push('_wrong_');
  return parts.join('<br>');
}

/** Folders of the machine do not belong on the page. */
function withoutFolders(text) {
  return text.replaceAll(/(?:\/[\w.-]+)+\/(?=[\w.-]+)/g, '');
}

/** How cost grows with size: the exponent between the smallest and the largest (1 is linear, 0 does not grow). */
function growthSection(all) {
  const curves = groupBy(
    all.filter(({ growth }) => growth),
    ({ growth }) => growth.of,
  );
  if (curves.size === 0) return '';
  const rows = [...curves].flatMap(([of, points]) => {
    const sorted = points.toSorted((a, b) => a.growth.size - b.growth.size);
    const names = Object.keys(sorted[0].results);
    return names.flatMap((name) => {
      const measured = sorted.filter(({ results }) => results[name]?.time !== undefined);
      // How fast a program fails is not a cost of the work.
      const right = measured.filter(({ results }) => !results[name].error && results[name].isRight);
      if (right.length < 2) return [];
      const [first, last] = [right[0], right.at(-1)];
      const costs = last.results[name].time / first.results[name].time;
      const exponent = Math.log(costs) / Math.log(last.growth.size / first.growth.size);
      const shown = measured.map(({ growth, results }) => {
        const { time, memory, error, isRight } = results[name];
        if (error || !isRight) return `${growth.size.toLocaleString('en')}: fails`;
        return `${growth.size.toLocaleString('en')}: ${milliseconds(time)}, +${round(memory)} MB`;
      });
      return [[of, name, shown.join(' · '), exponent.toFixed(2)]];
    });
  });
  return `## Growth\n\nThe dashed line is linear.\n\n![Curves](growth.svg)\n\n${table(['', '', 'at 1 ×, 10 ×, 100 × the size', 'exponent'], rows)}\n`;
}

/** Where a peer with a right answer is faster than Lathe, or needs less of what is counted. */
function behindSection(all) {
  const rows = all.flatMap(({ name, results, verdicts, isRefusal }) => {
    const { lathe } = results;
    const ahead = Object.entries(results).flatMap(([peer, result]) => {
      const isAnswered = !result.missing && result.isRight && (isRefusal || !result.error);
      if (/^(raw|lathe)/.test(peer) || !isAnswered || !lathe) return [];
      const key = result.count === undefined ? 'time' : 'count';
      return lathe[key] > result[key] * 1.05 ? [`${peer} by ${round(lathe[key] / result[key])} ×`] : [];
    });
    const missed = verdicts.filter(({ isMet }) => !isMet).map(({ text }) => text);
    return ahead.length + missed.length > 0
      ? [`- **${name}**: ${[...ahead, ...missed].join('; ')}. ${reasons[name] ?? ''}`.trimEnd()]
      : [];
  });
  return `## Where Lathe is not ahead\n\n${rows.length > 0 ? rows.join('\n') : 'Nowhere.'}\n`;
}

function busy({ cores }, all) {
  if (all.every(({ load }) => load <= cores)) return '';
  return ' The machine had other work at the same time: times and stalls of all programs are longer than on a quiet one.';
}

function span(numbers) {
  return `${round(Math.min(...numbers))} to ${round(Math.max(...numbers))}`;
}

function groupBy(list, key) {
  const groups = new Map();
  for (const one of list) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}

function table(head, rows) {
  const row = (cells) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map((cells) => row(cells))].join('\n');
}

export function milliseconds(time) {
  if (time >= 1000) return `${round(time / 1000)} s`;
  return `${round(time)} ms`;
}
