import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { gitFiles } from '../../../../testing/git-files.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { ApprovalRequest, CallRequest } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { responseText } from '../contract/content.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;
const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n';

const files = {
  '.env': 'TOKEN=hidden\n',
  'app/.env.production': 'TOKEN=hidden\n',
  'deploy/id_ed25519': key,
  'deploy/server.pem': key,
  'deploy/google-credentials.json': '{"private_key": "hidden"}',
  '.npmrc': '//registry.example/:_authToken=hidden\n',
};

const ordinary = {
  '.env.example': 'TOKEN=\n',
  '.env.local.sample': 'TOKEN=\n',
  '.env.template': 'TOKEN=\n',
  'id_generator.ts': 'export const id = 1;\n',
  'public.pem': '-----BEGIN PUBLIC KEY-----\n',
  'web/.npmrc': '//registry.example/:_authToken=${TOKEN}\n',
  'src/env.ts': 'export const hidden = 1;\n',
};

async function open(mode = 'default', allow: string[] = [], answer: Decision = { outcome: 'deny' }) {
  const base = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({ permissions: { allow }, tools: { sandbox: 'off' } }),
    ...Object.fromEntries(Object.entries({ ...files, ...ordinary, ...gitFiles() }).map(([n, t]) => [`app/${n}`, t])),
  });
  const cwd = join(base, 'app');
  const questions: ApprovalRequest[] = [];
  const lathe = await createLathe({
    cwd,
    home: join(base, 'home'),
    env: { PATH: process.env['PATH'] ?? '' },
    flags: { 'tools.approvalMode': mode },
    approver: {
      decide: async (request) => {
        questions.push(request);
        return answer;
      },
    },
  });
  onTestFinished(() => lathe.close());
  const run = async (call: CallRequest) => {
    const [outcome] = await lathe.run([call], never);
    return outcome && { status: outcome.status, text: responseText(outcome.response) };
  };
  return { cwd, lathe, questions, run };
}

const readFile = (path: string) => ({ name: 'read_file', args: { absolute_path: path } });
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

for (const mode of ['default', 'auto-edit', 'yolo'])
  test.each(Object.keys(files))(`in ${mode} mode %s is read only after a person said so`, async (name) => {
    const { cwd, questions, run } = await open(mode, ['read_file', 'read_file(**)', 'run_shell_command']);
    expect((await run(readFile(join(cwd, name))))?.status).toBe('cancelled');
    expect((await run({ name: 'read_many_files', args: { paths: [name] } }))?.status).toBe('cancelled');
    expect((await run({ name: 'grep_search', args: { pattern: '.', path: join(cwd, name) } }))?.status).toBe(
      'cancelled',
    );
    expect((await run(shell(`cat ${name}`)))?.status).toBe('cancelled');
    expect((await run(shell(`base64 < ${name}`)))?.status).toBe('cancelled');
    expect((await run(shell(`some-viewer ${name}`)))?.status).toBe('cancelled');
    expect(questions).toHaveLength(6);
    for (const { reason, confirmation } of questions) {
      expect(reason).toContain('may hold keys or passwords');
      expect(confirmation.rules).toContain(`read_file(/${join(cwd, name)})`);
    }
  });

test.each(Object.keys(ordinary))('%s is read without a question', async (name) => {
  const { cwd, questions, run } = await open();
  expect((await run(readFile(join(cwd, name))))?.status).toBe('success');
  expect((await run(shell(`cat ${name}`)))?.status).toBe('success');
  expect(questions).toEqual([]);
});

test('searches and patterns leave such files out', async () => {
  const { questions, run } = await open();
  const found = await run({ name: 'grep_search', args: { pattern: 'hidden|OPENSSH' } });
  const many = await run({ name: 'read_many_files', args: { paths: ['**/*'], useDefaultExcludes: false } });
  for (const { text = '' } of [found, many].flatMap((each) => each ?? [])) {
    expect(text).toContain('export const hidden');
    expect(text).not.toMatch(/TOKEN=hidden|BEGIN OPENSSH|"hidden"|_authToken=hidden/);
  }
  expect(questions).toEqual([]);
});

test('names and sizes of such files are not secret', async () => {
  const { questions, run } = await open();
  for (const command of ['ls -la .env', 'test -f .env', 'stat .env', 'wc -c .env', 'find . -name .env', 'ls -a'])
    expect([command, (await run(shell(command)))?.status]).toEqual([command, 'success']);
  expect(questions).toEqual([]);
});

test.each(['grep -r TOKEN .', 'grep -rn hidden', 'cat .e*', 'cat ./.[e]nv', 'find . -name ".env*" -exec cat {} +'])(
  '%s asks, because it would print one',
  async (command) => {
    const { questions, run } = await open();
    expect((await run(shell(command)))?.status).toBe('cancelled');
    expect(questions).toHaveLength(1);
  },
);

test.each([
  'grep -r hidden src',
  "grep -rn --include='*.ts' hidden .",
  'find . -type f -name "*.ts" -exec cat {} +',
  'find src -type f -name "*.ts" -print0 | xargs -0 grep hidden',
  ...(hasProgram('rg') ? ['rg export src'] : []),
])('%s does not ask, because it cannot print one', async (command) => {
  const { questions, run } = await open();
  expect((await run(shell(command)))?.text).toContain('hidden');
  expect(questions).toEqual([]);
});

test('"always" lets exactly this file be read, by every tool', async () => {
  const { cwd, questions, run } = await open('default', [], { outcome: 'always', scope: 'session' });
  expect((await run(readFile(join(cwd, '.env'))))?.text).toContain('hidden');
  expect((await run(shell('cat .env')))?.text).toContain('hidden');
  expect(questions).toHaveLength(1);
  await run(readFile(join(cwd, '.npmrc')));
  expect(questions).toHaveLength(2);
});

test('an edit tells nothing about a file that nobody may read unasked', async () => {
  const { cwd, run } = await open('auto-edit');
  const args = { file_path: join(cwd, '.env'), old_string: 'TOKEN=x', new_string: 'TOKEN=y' };
  expect((await run({ name: 'edit', args }))?.text).toBe(
    `${join(cwd, '.env')} cannot be read without approval. Read it first, then change it.`,
  );
});
