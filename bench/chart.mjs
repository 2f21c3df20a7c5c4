// results.svg: for each case one line, with a mark per contestant at its ratio to Lathe, on a scale of powers of ten.
import { writeFileSync } from 'node:fs';
import { round } from './judge.mjs';

const colours = {
  raw: '#888888',
  lathe: '#0b7a3b',
  'lathe, sandboxed': '#5fb684',
  pi: '#2b6cb0',
  'gemini-core': '#c2410c',
  'gemini-cli': '#c2410c',
  'qwen-core': '#7e22ce',
  'qwen-cli': '#7e22ce',
  'qwen-code': '#7e22ce',
  codex: '#b59f00',
  claude: '#db2777',
  opencode: '#0e7490',
};
const panels = [
  ['time', 'Time, as a multiple of Lathe'],
  ['count', 'Counted (tokens, packages, megabytes), as a multiple of Lathe'],
  ['memory', 'Peak memory above the start, as a multiple of Lathe'],
  ['stall', 'Longest stall of the event loop, as a multiple of Lathe'],
  ['output', 'Size of the answer, as a multiple of Lathe'],
];
/** What lies below these is noise, and counts as this much. */
const floors = { time: 0.01, count: 1, memory: 1, stall: 2, output: 1 };
const [left, width, right, rowHeight] = [600, 620, 60, 20];

export function writeChart(path, { cases }) {
  const all = Object.values(cases).filter(({ growth }) => !growth);
  let top = 40;
  const body = panels.map(([metric, title]) => {
    const rows = all.flatMap((one) => rowOf(one, metric));
    if (rows.length === 0) return '';
    const drawn = panel(title, rows, top);
    top += rows.length * rowHeight + 90;
    return drawn;
  });
  const total = left + width + right;
  writeFileSync(
    path,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${top}" font-family="sans-serif" font-size="12">
<title>Lathe, the peers and the raw limit</title>
<rect width="${total}" height="${top}" fill="#ffffff"/>
${legend()}
${body.join('\n')}
</svg>
`,
  );
}

/** The case as `{ name, marks: [contestant, ratio] }`, when another contestant was measured too. */
function rowOf({ name, results, unit }, metric) {
  const isCount = unit !== undefined;
  if (isCount !== (metric === 'count') || results.lathe?.[metric] === undefined) return [];
  const value = (result) => Math.max(result[metric], floors[metric]);
  const marks = Object.entries(results)
    .filter(([who, result]) => result[metric] !== undefined && !result.error && (who !== 'raw' || metric === 'time'))
    .map(([who, result]) => [who, value(result) / value(results.lathe)]);
  return marks.length > 1 ? [{ name, marks }] : [];
}

function panel(title, rows, top) {
  const ratios = rows.flatMap(({ marks }) => marks.map(([, ratio]) => ratio));
  const low = Math.floor(Math.log10(Math.min(...ratios, 0.1)));
  const high = Math.ceil(Math.log10(Math.max(...ratios, 10)));
  const x = (ratio) => left + ((Math.log10(ratio) - low) / (high - low)) * width;
  const bottom = top + 24 + rows.length * rowHeight;
  const grid = Array.from({ length: high - low + 1 }, (_, index) => {
    const power = 10 ** (low + index);
    const isOurs = power === 1;
    return `<line x1="${x(power)}" x2="${x(power)}" y1="${top + 18}" y2="${bottom}" stroke="${isOurs ? '#0b7a3b' : '#dddddd'}"/>
<text x="${x(power)}" y="${bottom + 14}" text-anchor="middle" fill="#444444">${isOurs ? '1 (Lathe)' : tick(power)}</text>`;
  });
  const lines = rows.map(({ name, marks }, index) => {
    const y = top + 34 + index * rowHeight;
    const dots = marks.map(
      ([who, ratio]) =>
        `<circle cx="${x(ratio).toFixed(1)}" cy="${y}" r="4.5" fill="${colours[who] ?? '#000000'}" fill-opacity="0.85"><title>${escape(who)}: ${round(ratio)}</title></circle>`,
    );
    return `<text x="${left - 12}" y="${y + 4}" text-anchor="end">${escape(name)}</text>${dots.join('')}`;
  });
  return `<text x="12" y="${top + 10}" font-size="14" font-weight="bold">${title}</text>\n${grid.join('\n')}\n${lines.join('\n')}`;
}

function tick(power) {
  return power < 0.001 || power > 100_000 ? power.toExponential() : power.toLocaleString('en');
}

function legend() {
  let x = 20;
  const parts = Object.entries(colours).map(([who, colour]) => {
    const part = `<circle cx="${x}" cy="18" r="5" fill="${colour}"/><text x="${x + 9}" y="22" font-size="11">${who}</text>`;
    x += 36 + who.length * 7;
    return part;
  });
  return parts.join('');
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
