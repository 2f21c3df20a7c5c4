import { expect, test } from 'vitest';
import { ProgressLine, progressText } from './progress-line.js';

const at = (done: number, now = done) => ({ total: 200, done, now, failed: 0, running: 4 });

test.each([
  [at(0), 0, '[------------------------] 0/200 · 4 running'],
  [at(50), 100, '[######------------------] 50/200 · 4 running · 5m 0s left'],
  [{ ...at(199), failed: 2 }, 1, '[########################] 199/200 · 4 running · 2 failed · 1s left'],
  [at(100, 1), 100, '[############------------] 100/200 · 4 running · 2h 46m left'],
  [{ total: 0, done: 0, now: 0, failed: 0, running: 0 }, 0, '[------------------------] 0/0'],
])('%j after %i s', (progress, seconds, text) => {
  expect(progressText(progress, seconds)).toBe(text);
});

test('a terminal shows one line, anything else a line now and then', () => {
  const written: string[] = [];
  const output = { columns: 20, write: (text: string) => written.push(text) };
  const bar = new ProgressLine(output, { isTerminal: true });
  bar.show(at(1));
  bar.end();
  expect(written).toEqual(['\r\u001b[K[------------------', '\n']);
  written.length = 0;
  const lines = new ProgressLine(output, { isTerminal: false });
  for (let done = 0; done <= 200; done++) lines.show(at(done));
  lines.end();
  expect(written).toHaveLength(11);
});
