import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { effortTable } from '../packages/agent/src/models/wire/effort.js';
import { withEfforts } from '../scripts/models-page.mjs';

test.each(['safety-table', 'limits-table', 'reference-pages'])('what %s writes is in docs already', (script) => {
  const path = join(import.meta.dirname, '..', 'scripts', `${script}.mjs`);
  const { status, stderr } = spawnSync(process.execPath, [path, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('docs/models.md lists who takes which effort; node scripts/models-page.mjs writes it anew', () => {
  const page = readFileSync(join(import.meta.dirname, 'models.md'), 'utf8');
  // The formatter aligns the columns.
  const unaligned = (text: string) => text.replace(/ {2,}/g, ' ').replace(/-{4,}/g, '---');
  expect(unaligned(page)).toBe(unaligned(withEfforts(page, effortTable)));
});

test.each([
  [['--only', 'toString'], {}, /no suite toString/],
  [['--only', 'soak,'], {}, /no suite/],
  [['--bogus'], {}, /bogus/],
  [['--list'], { LATHE_SOAK_MINUTES: 'an hour' }, /LATHE_SOAK_MINUTES/],
  [['--list'], { LATHE_SEED: 'x' }, /LATHE_SEED/],
])('npm run test:long -- %j with %j is wrong usage, and starts nothing', (args, env, message) => {
  const path = join(import.meta.dirname, '..', 'scripts', 'test-long.mjs');
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stderr } = spawnSync(process.execPath, [path, ...args], options);
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test('every test that has a long variant belongs to a suite of npm run test:long', () => {
  const root = join(import.meta.dirname, '..');
  const list = spawnSync(process.execPath, [join(root, 'scripts', 'test-long.mjs'), '--list'], { encoding: 'utf8' });
  const files = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(sep, '/'))
    .filter((file) => /^[^/]+\/src\/.*\.test\.ts$/.test(file))
    .filter((file) => /LATHE_LONG|testing\/long-run/.test(readFileSync(join(root, 'packages', file), 'utf8')));
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !list.stdout.includes(`  ${file}\n`))).toEqual([]);
});

test('every link leads to a file, and to a heading if it names one', () => {
  const root = join(import.meta.dirname, '..');
  const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((page) => page !== '' && !page.startsWith('testing/'));
  const prose = (page: string) => readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  const anchors = (page: string) =>
    [...prose(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const isDead = (page: string, link: string): boolean => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchors(target).includes(anchor);
  };
  const dead = pages.flatMap((page) =>
    [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) =>
      !/^[a-z]+:/.test(link) && isDead(page, link) ? [`${page}: ${link}`] : [],
    ),
  );
  expect(dead).toEqual([]);
  // The generator of the site takes src="pictures/x.png" for the name of a package.
  const pictures = pages.flatMap((page) =>
    [...prose(page).matchAll(/\bsrc="([^"]+)"/g)].map(([, link = '']) => ({ page, link })),
  );
  expect(pictures.filter(({ page, link }) => !link.startsWith('./') || isDead(page, link))).toEqual([]);
});
