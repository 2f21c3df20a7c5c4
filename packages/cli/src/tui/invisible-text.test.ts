import { join } from 'node:path';
import { createAgentLathe } from '@lathe/agent';
import { type ApprovalRequest, denyAll } from '@lathe/core';
import { grantableRules } from '@lathe/core/host';
import { expect, onTestFinished, test } from 'vitest';
import { invisibleCharacters } from '../../../../testing/invisible-characters.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { renderMarkdown } from '../render/markdown.js';
import { styleFor } from '../render/style.js';
import { confirmationText } from './questions/confirmation-text.js';

const style = styleFor({ NO_COLOR: '1' });
const context = {
  style,
  width: 500,
  markdown: (text: string, width: number) => renderMarkdown(text, width, style),
  isScreenReader: false,
  toolName: (name: string) => name,
};

/** A project with allow rules for all of these calls, and an approver that denies and records every question. */
async function setUp() {
  const base = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({
      permissions: { allow: ['run_shell_command(echo *)', 'write_file(/**)', 'web_fetch(example.com)'] },
      tools: { sandbox: 'off' },
    }),
    'app/readme.md': 'a project\n',
  });
  const asked: ApprovalRequest[] = [];
  const cwd = join(base, 'app');
  const lathe = await createAgentLathe({
    cwd,
    home: join(base, 'home'),
    env: { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home') },
    flags: { 'tools.approvalMode': 'auto-edit' },
    approver: {
      decide: async (request) => {
        asked.push(request);
        return { outcome: 'deny' };
      },
    },
  });
  onTestFinished(() => lathe.close());
  return { lathe, cwd, asked };
}

const places: Record<string, (text: string, cwd: string) => { name: string; args: Record<string, unknown> }> = {
  'a command': (text) => ({ name: 'run_shell_command', args: { command: `echo ${text}` } }),
  'a path': (text, cwd) => ({ name: 'write_file', args: { file_path: join(cwd, text), content: 'x\n' } }),
  'a diff': (text, cwd) => ({ name: 'write_file', args: { file_path: join(cwd, 'new.txt'), content: `${text}\n` } }),
  'an address': (text) => ({ name: 'web_fetch', args: { url: `https://example.com/${text}`, prompt: 'read' } }),
};

test.each(Object.entries(places))(
  'SF02: every invisible character in %s is escaped, causes a warning and a question despite allow rules, and excludes "always"',
  { timeout: 300_000 },
  async (_place, callOf) => {
    const { lathe, cwd, asked } = await setUp();
    const characters = invisibleCharacters();
    expect(characters.length).toBeGreaterThan(500);
    const unseen: string[] = [];
    let questions = 0;
    for (const character of characters) {
      asked.length = 0;
      const [outcome] = await lathe.run([callOf(`a${character}b`, cwd)], new AbortController().signal);
      // URLs cannot contain control characters.
      if (outcome?.error?.type === 'invalid_tool_params') continue;
      questions++;
      const problem = problemOf(asked, character);
      if (problem !== undefined) unseen.push(`U+${character.codePointAt(0)?.toString(16)}: ${problem}`);
    }
    expect(unseen).toEqual([]);
    expect(questions).toBeGreaterThan(450);
  },
);

function problemOf([request]: readonly ApprovalRequest[], character: string): string | undefined {
  if (!request) return 'nobody was asked';
  const { title, body, warnings } = confirmationText(request, context);
  const shown = [...title, ...body, ...warnings].join('\n');
  const code = character.codePointAt(0)?.toString(16).padStart(2, '0') ?? '';
  const escapes = [`a\\x${code}b`, `a\\u{${code}}b`, `a<U+${code.toUpperCase().padStart(4, '0')}>b`];
  if (!escapes.some((escape) => shown.includes(escape))) return `it is not spelled out in ${JSON.stringify(shown)}`;
  if (shown.includes(character)) return 'it is shown as it is';
  if (!/invisible/.test(warnings.join(' '))) return `no warning but ${warnings.join(' ')}`;
  return grantableRules(request).length > 0 ? 'always is offered' : undefined;
}

test('the same rules allow plain text without asking, and emoji are not treated as hidden text', async () => {
  const { lathe, cwd, asked } = await setUp();
  for (const text of ['ab', 'é漢字', '👍🏽'])
    for (const place of ['a command', 'a path', 'a diff'])
      await lathe.run([places[place]?.(text, cwd) ?? { name: '', args: {} }], new AbortController().signal);
  await lathe.run(
    [{ name: 'write_file', args: { file_path: join(cwd, 'b'), content: '\ufeff⚠️ 1️⃣\r\n' } }],
    AbortSignal.timeout(60_000),
  );
  for (const place of ['a path', 'a diff'])
    await lathe.run([places[place]?.('👩🏽‍💻🏳️‍🌈', cwd) ?? { name: '', args: {} }], AbortSignal.timeout(60_000));
  expect(asked).toEqual([]);
});

test('where nobody can be asked, the denial names the character and its line', async () => {
  const { lathe, cwd } = await setUp();
  const scheduler = lathe.host.openScheduler({ approver: denyAll });
  const args = { file_path: join(cwd, 'new.txt'), content: 'a\nb\u200bc\n' };
  const [outcome] = await scheduler.run([{ name: 'write_file', args }], AbortSignal.timeout(60_000));
  expect(outcome?.error?.message).toBe(
    "write_file was not run: it needs a person's approval (it contains invisible or control characters: U+200B in line 2 of content; where they are meant, write them as escape sequences) and nobody is there to give it.",
  );
});
