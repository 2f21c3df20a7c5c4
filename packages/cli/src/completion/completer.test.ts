import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { completePaths } from './complete-paths.js';
import { Completer } from './completer.js';
import type { Completion, CompletionSource } from './completions.js';
import { PathIndex } from './path-index.js';

const one = (insert: string): Completion => ({ start: 0, candidates: [{ label: insert, insert }], onEnter: 'send' });

test('candidates for an earlier text stay visible until there are new ones, and are never accepted', async () => {
  const completer = new Completer();
  const answers: ((completion: Completion | undefined) => void)[] = [];
  const slow: CompletionSource = () => new Promise((resolve) => answers.push(resolve));
  completer.setSources([(text) => (text === 'now' ? one('now!') : undefined), slow]);
  completer.update('now', 3);
  expect(completer.fresh).toEqual(one('now!'));
  completer.update('later', 5);
  expect(completer.current).toEqual(one('now!'));
  expect(completer.fresh).toBeUndefined();
  completer.update('latest', 6);
  answers[0]?.(one('of later'));
  await turn();
  expect(completer.fresh).toBeUndefined();
  answers[1]?.(one('of latest'));
  await turn();
  expect(completer.fresh).toEqual(one('of latest'));
  completer.dismiss();
  expect(completer.current).toBeUndefined();
});

test('paths are listed on first use, offered while the list grows, and quoted if necessary', async () => {
  const completer = new Completer();
  let walks = 0;
  const index = new PathIndex(
    async function* () {
      walks++;
      yield ['src/', 'src/my file.ts'];
      await turn();
      yield ['src/other.ts'];
    },
    { onChange: () => completer.refresh(), signal: new AbortController().signal },
  );
  completer.setSources([completePaths(() => index.paths)]);
  const inserts = async (text: string) => {
    completer.update(text, text.length);
    await expect.poll(() => completer.fresh !== undefined).toBe(true);
    const { start = 0, candidates = [] } = completer.fresh ?? {};
    return candidates.map(({ insert }) => text.slice(0, start) + insert);
  };
  completer.update('no mention', 10);
  expect(walks).toBe(0);
  expect((await inserts('see @sr'))[0]).toBe('see @src/');
  await expect.poll(() => inserts('see @src/')).toEqual(['see @src/other.ts ', 'see @"src/my file.ts" ']);
  expect(await inserts('see @"my fi')).toEqual(['see @"src/my file.ts" ']);
  expect(completer.fresh?.onEnter).toBe('accept');
  await inserts('see @src/other.ts');
  expect(completer.fresh?.onEnter).toBe('send');
  expect(walks).toBe(1);
});
