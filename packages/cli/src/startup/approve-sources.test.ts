import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

test('a person reads each question of lathe trust once, and then what follows from the answer', async () => {
  const cwd = tempDirectory({
    '.claude/skills/release/SKILL.md': '---\nname: release\ndescription: Releases.\n---\nDo.\n',
  });
  const { type, shows, exited, text } = terminal(['trust'], { cwd });
  await shows('[y]es / [N]o:');
  type('y\r');
  await shows('It may be used.');
  expect(await exited()).toBe(0);
  expect(text().match(/Offer the skill release/g)).toHaveLength(1);
}, 60_000);
