import xterm from '@xterm/headless';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiveArea } from './live-area.js';

const open = (cols = 30, rows = 12) => {
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, convertEol: true });
  const send = (data: string) => new Promise<void>((resolve) => terminal.write(data, resolve));
  const lines = () => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd();
  };
  return { terminal, send, lines };
};

test('any sequence of frames gives the same screen as one fresh draw below the scrollback', async () => {
  const line = fc.constantFrom('', 'a', 'bb', 'ccc ccc', 'x'.repeat(30));
  const frame = fc.record({ live: fc.array(line, { maxLength: 6 }), past: fc.array(line, { maxLength: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 12 }), async (frames) => {
      const area = new LiveArea();
      const { send, lines } = open();
      for (const { live, past } of frames) await send(area.frame(live, past));
      const all = [...frames.flatMap(({ past }) => past), ...(frames.at(-1)?.live ?? [])];
      expect(lines()).toBe(all.join('\n').trimEnd());
    }),
    { numRuns: 100, seed: 1 },
  );
});

test('an unchanged line is not sent again', () => {
  const area = new LiveArea();
  area.frame(['title', 'one', 'status']);
  const sent = area.frame(['title', 'two', 'status']);
  expect([sent.includes('two'), sent.includes('title'), sent.includes('status')]).toEqual([true, false, false]);
  expect(area.frame(['title', 'two', 'status'])).toBe('');
});

test('SF08: a narrower terminal keeps nothing of the old area and loses nothing above it', async () => {
  const area = new LiveArea();
  const { terminal, send, lines } = open(30, 12);
  await send(area.frame(['❯ typed', 'm · default mode · sandboxed'], ['said before']));
  terminal.resize(10, 12);
  await send(area.clear(10));
  await send(area.frame(['❯ typed', 'm · defau…']));
  expect(lines()).toBe('said befor\ne\n❯ typed\nm · defau…');
});
