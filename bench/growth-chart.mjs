// growth.svg: for each thing that can grow, our time against its size, both on scales of powers of ten.
import { writeFileSync } from 'node:fs';

const [width, height, pad, columns] = [300, 200, 44, 3];

/** `cases` as kept by run.mjs. Draws nothing before there is a curve. */
export function writeGrowthChart(path, { cases }) {
  const points = pointsOf(cases);
  const panels = [...new Set(points.map(({ of }) => of))]
    .map((name) => [name, points.filter(({ of }) => of === name)])
    .filter(([, curve]) => curve.length > 1);
  if (panels.length === 0) return;
  const rows = Math.ceil(panels.length / columns);
  const drawn = panels.map(([of, curve], index) => {
    const [x, y] = [(index % columns) * width, Math.floor(index / columns) * height];
    return `<g transform="translate(${x} ${y})">${panel(of, curve)}</g>`;
  });
  const [totalWidth, totalHeight] = [columns * width, rows * height];
  writeFileSync(
    path,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${totalWidth} ${totalHeight}" font-family="sans-serif" font-size="11">
<title>Our time against size; the dashed line is linear</title>
<rect width="${totalWidth}" height="${totalHeight}" fill="#ffffff"/>
${drawn.join('\n')}
</svg>
`,
  );
}

function pointsOf(cases) {
  return Object.values(cases)
    .filter(({ growth, results }) => growth && results.lathe?.time > 0)
    .map(({ growth, results }) => ({ ...growth, time: results.lathe.time }))
    .sort((a, b) => a.size - b.size);
}

function panel(of, points) {
  const [first, last] = [points[0], points.at(-1)];
  const sizes = Math.log10(last.size / first.size);
  const times = points.map(({ time }) => time);
  // Room for the linear line, from the first point.
  const [low, high] = [Math.min(...times), Math.max(...times, first.time * 10 ** sizes)];
  const x = (size) => pad + (Math.log10(size / first.size) / sizes) * (width - pad - 16);
  const y = (time) => height - 36 - (Math.log10(time / low) / Math.log10(high / low)) * (height - 74);
  const dots = points.map(
    ({ size, time }) =>
      `<circle cx="${x(size).toFixed(1)}" cy="${y(time).toFixed(1)}" r="4" fill="#0b7a3b"/><text x="${x(size).toFixed(1)}" y="${height - 18}" text-anchor="middle" fill="#444444">${size.toLocaleString('en')}</text>`,
  );
  const line = points.map(({ size, time }) => `${x(size).toFixed(1)},${y(time).toFixed(1)}`).join(' ');
  return `<text x="${pad}" y="20" font-weight="bold">${of}</text>
<line x1="${x(first.size)}" y1="${y(first.time)}" x2="${x(last.size)}" y2="${y(first.time * 10 ** sizes)}" stroke="#bbbbbb" stroke-dasharray="4 3"/>
<polyline points="${line}" fill="none" stroke="#0b7a3b" stroke-width="2"/>${dots.join('')}
<text x="${pad - 8}" y="${y(first.time) - 6}" text-anchor="start" fill="#444444">${round(first.time)} ms</text>
<text x="${x(last.size)}" y="${y(last.time) - 8}" text-anchor="end" fill="#444444">${round(last.time)} ms</text>`;
}

const round = (ms) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));
