import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApprovalRequest } from '@lathe/core';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createAgentLathe } from '../create-agent-lathe.js';
import { estimateTokens } from '../models/estimate-tokens.js';
import { openWorktree } from '../worktrees/worktrees.js';
import type { Skill } from './find-skills.js';
import { listSkills, listTokens } from './skill-tool.js';

const { signal } = new AbortController();
const skill = (name: string, body = `How to ${name}.`, more = '') =>
  `---\nname: ${name}\ndescription: For ${name}.\n${more}---\n${body}\n`;

interface World {
  home?: Record<string, string>;
  project?: Record<string, string>;
  isTrusted?: boolean;
}

/** A person who trusts the folder and answers as `answer` says. */
async function open(world: World, answer: 'once' | 'deny' = 'deny') {
  const home = tempDirectory(world.home);
  const cwd = tempDirectory(world.project);
  mkdirSync(join(home, '.lathe'), { recursive: true, mode: 0o700 });
  const state = { answer, asked: new Array<ApprovalRequest>() };
  const start = async (isTrusted?: boolean) => {
    const lathe = await createAgentLathe({
      cwd,
      home,
      env: { PATH: process.env['PATH'] },
      ...(isTrusted !== undefined && { isTrusted }),
      approver: {
        decide: async (request) => {
          state.asked.push(request);
          return { outcome: state.answer };
        },
      },
    });
    onTestFinished(() => lathe.close());
    await lathe.discover(signal);
    return lathe;
  };
  return { home, cwd, state, start };
}

/** Trusted for good, so that each skill of the project still has to be agreed to. */
async function trusted(world: World, answer: 'once' | 'deny' = 'once') {
  const opened = await open(world, answer);
  writeFileSync(join(opened.home, '.lathe/settings.json'), '{"security":{"folderTrust":{"enabled":false}}}', {
    mode: 0o600,
  });
  return opened;
}

type Started = Awaited<ReturnType<typeof createAgentLathe>>;
const names = ({ skills }: Started) => skills.skills.map(({ name }) => name);
const call = async (lathe: Started, name: string, args: Record<string, unknown>) =>
  (await lathe.run([{ name, args }], signal))[0];

test('without skills there is no tool and nothing is asked', async () => {
  const { start, state } = await open({});
  const lathe = await start();
  expect(lathe.tools.getTool('skill')).toBeUndefined();
  expect({ asked: state.asked, rejections: lathe.tools.rejections() }).toEqual({ asked: [], rejections: [] });
});

test('all folders of the person and the project count, the person’s first', async () => {
  const { start } = await open({
    home: {
      '.agents/skills/a/SKILL.md': skill('a'),
      '.lathe/skills/b/SKILL.md': skill('b'),
      '.qwen/skills/c/SKILL.md': skill('c'),
      '.claude/skills/d/SKILL.md': skill('d'),
    },
    project: {
      '.agents/skills/e/SKILL.md': skill('e'),
      '.lathe/skills/f/SKILL.md': skill('f'),
      '.qwen/skills/g/SKILL.md': skill('g'),
      '.claude/skills/h/SKILL.md': skill('h'),
      '.claude/skills/a/SKILL.md': skill('a', 'Another one.'),
    },
  });
  const lathe = await start(true);
  expect(names(lathe)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  expect(lathe.tools.rejections()[0]?.reason).toContain('there is a skill a already');
});

test('the skills of a folder that is not trusted are named, not read', async () => {
  const { start, state } = await open(
    { project: { '.claude/skills/a/SKILL.md': skill('a'), '.claude/skills/b/SKILL.md': 'x' } },
    'once',
  );
  const lathe = await start();
  expect(names(lathe)).toEqual([]);
  expect(state.asked).toEqual([]);
  const reason = 'the folder is not trusted: run lathe trust';
  expect(lathe.tools.rejections()).toEqual([{ source: 'skills', name: '.claude/skills/a and 1 more', reason }]);
});

test('skills of a project ask once, together, and again when any file changes', async () => {
  const { start, state, cwd } = await trusted({
    project: {
      '.claude/skills/a/SKILL.md': skill('a'),
      '.claude/skills/b/SKILL.md': skill('b'),
      '.claude/skills/b/scripts/run.sh': 'echo hi\n',
    },
  });
  expect(names(await start())).toEqual(['a', 'b']);
  expect(state.asked).toHaveLength(1);
  expect(names(await start())).toEqual(['a', 'b']);
  expect(state.asked).toHaveLength(1);
  writeFileSync(join(cwd, '.claude/skills/b/scripts/run.sh'), 'echo changed\n');
  state.answer = 'deny';
  const denied = await start();
  expect(names(denied)).toEqual(['a']);
  expect(state.asked).toHaveLength(2);
  expect(JSON.stringify(state.asked[1]?.confirmation)).toContain('.claude/skills/b');
  expect(denied.tools.rejections()[0]).toMatchObject({ name: 'b' });
  state.answer = 'once';
  expect(names(await start())).toEqual(['a', 'b']);
});

test('a skill that leads out of the project, or has a symlink in it, is refused', async () => {
  const { start, cwd } = await trusted({ project: { '.claude/skills/in/SKILL.md': skill('in') } });
  const outside = tempDirectory({ 'out/SKILL.md': skill('out') });
  symlinkSync(join(outside, 'out'), join(cwd, '.claude/skills/out'));
  symlinkSync('/etc/hostname', join(cwd, '.claude/skills/in/notes.md'));
  const lathe = await start();
  expect(names(lathe)).toEqual([]);
  expect(lathe.tools.rejections().map(({ reason }) => reason)).toEqual([
    expect.stringContaining('not a regular file'),
    'it leads out of the project',
  ]);
});

test('the tool gives the body, the folder and its files, which can be read from then on', async () => {
  const { start, home, state } = await open({
    home: {
      '.claude/skills/pdf/SKILL.md': skill('pdf', 'Read ${CLAUDE_SKILL_DIR}/reference.md.', 'allowed-tools: Bash(*)\n'),
      '.claude/skills/pdf/reference.md': 'The reference.\n',
      '.claude/skills/pdf/scripts/count.sh': 'cat "$(dirname "$0")/../reference.md"\n',
    },
  });
  const lathe = await start();
  const folder = join(home, '.claude/skills/pdf');
  const read = { absolute_path: join(folder, 'reference.md') };
  expect(await call(lathe, 'read_file', read)).toMatchObject({ status: 'cancelled' });
  const loaded = await call(lathe, 'skill', { name: 'pdf' });
  expect(loaded?.llmContent).toContain(`Read ${folder}/reference.md.`);
  expect(loaded?.llmContent).toContain('reference.md, scripts/');
  expect(await call(lathe, 'read_file', read)).toMatchObject({ status: 'success' });
  // What a skill allows counts for nothing.
  const command = { command: `bash ${folder}/scripts/count.sh` };
  expect(await call(lathe, 'run_shell_command', command)).toMatchObject({ status: 'cancelled' });
  state.answer = 'once';
  const ran = await call(lathe, 'run_shell_command', command);
  expect(ran?.llmContent).toContain('The reference.');
  expect(await call(lathe, 'skill', { name: 'pfd' })).toMatchObject({ status: 'error' });
});

test('what was agreed to counts in a worktree too, as long as it is the same', async () => {
  const { start, state, cwd } = await trusted({ project: { '.claude/skills/a/SKILL.md': skill('a') } });
  execFileSync('git', ['init', '-q'], { cwd });
  const lathe = await start();
  const worktree = await openWorktree(lathe, { kind: 'task' }, signal);
  onTestFinished(() => worktree.remove());
  const openInside = async () => {
    const inner = await lathe.openIn(worktree);
    onTestFinished(() => inner.close());
    await inner.discover(signal);
    return inner;
  };
  expect([names(await openInside()), state.asked.length]).toEqual([['a'], 1]);
  writeFileSync(join(worktree.cwd, '.claude/skills/a/more.md'), 'Changed.');
  state.answer = 'deny';
  expect([names(await openInside()), state.asked.length]).toEqual([[], 2]);
});

test('a folder whose name has line breaks does not add lines to the question', async () => {
  const { start, state } = await trusted({
    project: { '.lathe/skills/x\ny (here): harmless/SKILL.md': skill('evil') },
  });
  await start();
  const [request] = state.asked;
  expect(request?.confirmation).toMatchObject({ prompt: expect.stringMatching(/^evil [^\n]*$/) });
});

test('a skill for the person alone is not offered to the model', async () => {
  const text = skill('deploy', 'Deploy.', 'disable-model-invocation: true\n');
  const { start } = await open({ home: { '.claude/skills/deploy/SKILL.md': text } });
  const lathe = await start();
  expect(names(lathe)).toEqual(['deploy']);
  expect(lathe.tools.getTool('skill')).toBeUndefined();
});

test('a person’s folder of skills that disappears takes its skills along', async () => {
  const { start, home } = await open({ home: { '.claude/skills/a/SKILL.md': skill('a') } });
  const lathe = await start();
  rmSync(join(home, '.claude'), { recursive: true });
  await lathe.discover(signal);
  expect(lathe.tools.getTool('skill')).toBeUndefined();
});

const many = (count: number, length: number): Skill[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `skill-${index}`,
    description: 'word '.repeat(length / 5).trim(),
    body: '',
    isForPersonOnly: false,
    owner: 'person',
    folder: '/',
  }));

test.each([
  [5, 1_000],
  [40, 300],
  [100, 1_000],
  [400, 1_000],
])('the list of %i skills with %i characters each stays within its budget', (count, length) => {
  const skills = many(count, length);
  const { text, omitted } = listSkills(skills);
  expect(estimateTokens(text)).toBeLessThanOrEqual(listTokens + 20);
  expect(text.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(count - omitted.length);
  if (omitted.length > 0) expect(text).toContain(`${omitted.length} more skills are not listed`);
});

test('a skill with a usual description costs at most 60 tokens with each request', () => {
  const description =
    'Extract text and tables from PDF files, fill forms, merge documents. Use when working with PDF files or when the person mentions forms.';
  const of = (count: number) => many(count, 5).map((each) => ({ ...each, description }));
  const price = estimateTokens(listSkills(of(2)).text) - estimateTokens(listSkills(of(1)).text);
  expect(price).toBeLessThanOrEqual(60);
  expect(price).toBeGreaterThan(20);
});
