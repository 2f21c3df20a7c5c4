import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { loadSettings } from './load-settings.js';

function load(content: string | Uint8Array, name = '.lathe') {
  const base = tempDirectory({ [`home/${name}/settings.json`]: content });
  const sources = { home: join(base, 'home'), latheHome: join(base, 'home/.lathe'), root: base };
  return loadSettings({ ...sources, systemFile: join(base, 'none'), isTrusted: true, env: { EMPTY: '' } });
}

const defaults = async () => JSON.stringify((await load('{}')).settings);

/** What the file says, and each problem as `line key: message`. */
const badFiles: [string, unknown[]][] = [
  ['{', ['1 : Expected "}", but the file ends. The whole file is ignored.']],
  ['[]', ['1 : The file must hold one object: { … }.']],
  ['"x"', ['1 : The file must hold one object: { … }.']],
  ['null', ['1 : The file must hold one object: { … }.']],
  ['{"a": }', ['1 : Expected a value, but found "}". The whole file is ignored.']],
  ['{\n"model": {"name": "x"\n', ['3 : Expected "}", but the file ends. The whole file is ignored.']],
  ['{"tools": {"exlude": ["a"]}}', ['1 tools.exlude: Unknown setting. Did you mean "tools.exclude"?']],
  ['{"tols": {"core": ["a"]}}', ['1 tols: Unknown setting. Did you mean "tools"?']],
  ['{"excludetools": ["a"]}', ['1 excludetools: Unknown setting. Did you mean "excludeTools"?']],
  ['{"quite": {"new": 1}}', ['1 quite: Unknown setting. docs/settings.md lists all settings.']],
  ['{"model": {"temperature": 1}}', ['1 model.temperature: Unknown setting. docs/settings.md lists all settings.']],
  ['{"model": "qwen"}', ['1 model: Expected an object with settings.']],
  ['{"tools": []}', ['1 tools: Expected an object with settings.']],
  ['{"tools": {"shell": 5}}', ['1 tools.shell: Expected an object with settings.']],
  ['{"model": {"name": 5}}', ['1 model.name: Expected a text that is not empty, but found 5.']],
  ['{"model": {"name": ""}}', ['1 model.name: Expected a text that is not empty, but found "".']],
  ['{"model": {"name": "  "}}', ['1 model.name: Expected a text that is not empty, but found "  ".']],
  ['{"model": {"name": "a\\u0000b"}}', ['1 model.name: Expected a text that is not empty, but found "a\\u0000b".']],
  ['{"model": {"name": null}}', ['1 model.name: Expected a text that is not empty, but found null.']],
  ['{"model": {"name": ["a"]}}', ['1 model.name: Expected a text that is not empty, but found a list.']],
  ['{"model": {"name": "$EMPTY"}}', ['1 model.name: Expected a text that is not empty, but found "$EMPTY".']],
  [
    '{"model": {"baseUrl": "file:///etc/passwd"}}',
    ['1 model.baseUrl: Expected a URL that begins with http:// or https://, but found "file:///etc/passwd".'],
  ],
  [
    '{"model": {"maxSessionTurns": 1.5}}',
    ['1 model.maxSessionTurns: Expected a whole number of at least -1, but found 1.5.'],
  ],
  ['{"maxSessionTurns": -2}', ['1 maxSessionTurns: Expected a whole number of at least -1, but found -2.']],
  ['{"maxSessionTurns": "5"}', ['1 maxSessionTurns: Expected a whole number of at least -1, but found "5".']],
  [
    '{"web": {"timeoutMs": 9999999}}',
    ['1 web.timeoutMs: Expected a whole number from 1 to 600000, but found 9999999.'],
  ],
  ['{"tools": {"useRipgrep": "yes"}}', ['1 tools.useRipgrep: Expected true or false, but found "yes".']],
  ['{"tools": {"useRipgrep": 1}}', ['1 tools.useRipgrep: Expected true or false, but found 1.']],
  [
    '{\n"tools": {\n"approvalMode": "sometimes"}}',
    ['3 tools.approvalMode: Expected one of "plan", "default", "auto-edit", "yolo", but found "sometimes".'],
  ],
  [
    '{"approvalMode": "toString"}',
    ['1 approvalMode: Expected one of "plan", "default", "auto-edit", "yolo", but found "toString".'],
  ],
  [
    '{"permissions": {"allow": "read_file"}}',
    [
      '1 permissions.allow: Expected a list, each entry a tool name or tool(spec), such as "run_shell_command(git status)", but found "read_file".',
    ],
  ],
  [
    '{"permissions": {"allow": [""]}}',
    [
      '1 permissions.allow[0]: Expected a tool name or tool(spec), such as "run_shell_command(git status)", but found "".',
    ],
  ],
  [
    '{"permissions": {"allow": ["Bash("]}}',
    [
      '1 permissions.allow[0]: Expected a tool name or tool(spec), such as "run_shell_command(git status)", but found "Bash(".',
    ],
  ],
  [
    '{"tools": {"allowed": [{"a": 1}]}}',
    [
      '1 tools.allowed[0]: Expected a tool name or tool(spec), such as "run_shell_command(git status)", but found an object.',
    ],
  ],
  [
    '{"context": {"fileName": "../x"}}',
    ['1 context.fileName: Expected a list, each entry a file name without a folder, but found "../x".'],
  ],
  [
    '{"context": {"fileName": [".."]}}',
    ['1 context.fileName[0]: Expected a file name without a folder, but found "..".'],
  ],
  ['{"mcpServers": []}', [expect.stringMatching(/^1 mcpServers: Expected an object of names/)]],
  ['{"mcpServers": {"a": "x"}}', [expect.stringMatching(/^1 mcpServers\.a: Expected an object with command, args/)]],
  [
    '{"mcpServers": {"a": {"command": "x", "args": "y"}}}',
    ['1 mcpServers.a.args: Expected a list, each entry a text, but found "y".'],
  ],
  ['{"mcpServers": {"a": {"command": "x", "args": [1]}}}', ['1 mcpServers.a.args[0]: Expected a text, but found 1.']],
  [
    '{"mcpServers": {"a": {"command": "x", "excludeTool": ["y"]}}}',
    ['1 mcpServers.a.excludeTool: Unknown key. Did you mean "excludeTools"?'],
  ],
  [
    '{"mcpServers": {"a": {"command": "x", "oauth": {"scopes": 1}}}}',
    ['1 mcpServers.a.oauth.scopes: Expected a list, each entry a text that is not empty, but found 1.'],
  ],
  [
    '{"mcpServers": {"a": {"url": "x", "headers": {"A": 1}}}}',
    ['1 mcpServers.a.headers.A: Expected a text that is not empty, but found 1.'],
  ],
  ['{"mcpServers": {"__proto__": {"command": "x"}}}', ['1 mcpServers.__proto__: This name cannot be used.']],
  ['{"mcpServers": {"constructor": {"command": "x"}}}', ['1 mcpServers.constructor: This name cannot be used.']],
  ['{"__proto__": {"tools": {}}}', ['1 __proto__: This name cannot be used.']],
  ['{"tools": {"__proto__": {"core": []}}}', ['1 tools.__proto__: This name cannot be used.']],
  ['{"hooks": {"PreToolUse": [{"matcher": "a"}]}}', ['1 hooks.PreToolUse[0]: "hooks" is missing.']],
  [
    '{"hooks": {"PreToolUse": [{"hooks": [{"type": "js", "command": "x"}]}]}}',
    ['1 hooks.PreToolUse[0].hooks[0].type: Expected one of "command", but found "js".'],
  ],
  ['{"webSearch": {"provider": [{"apiKey": "x"}]}}', ['1 webSearch.provider[0]: "type" is missing.']],
];

// RP07, SE11
test.each(badFiles)('%s starts with defaults and reports the mistake', async (text, expected) => {
  const { settings, problems } = await load(text);
  expect(problems.map(({ line, key, message }) => `${line} ${key}: ${message}`)).toEqual(expected);
  expect(JSON.stringify(settings)).toBe(
    text.includes('"fileName": [') ? await defaultsWith({ fileName: [] }) : await defaults(),
  );
});

async function defaultsWith(context: object): Promise<string> {
  const settings = JSON.parse(await defaults()) as { context: object };
  return JSON.stringify({ ...settings, context: { ...settings.context, ...context } });
}

test('there are at least forty kinds of mistakes in the table', () => {
  expect(badFiles.length).toBeGreaterThanOrEqual(40);
});

// SB03
test.each(['[]', 'null', '[""]', '""', '"yes"', '{}', '1'])(
  'the network of the sandbox stays closed with %s',
  async (value) => {
    expect((await load(`{"tools": {"sandbox": {"network": ${value}}}}`)).settings.tools.sandbox.network).toBe(false);
  },
);

test('a wrong value of a protective setting counts as the strict one', async () => {
  expect((await load('{"tools": {"sandbox": "docker"}}')).settings.tools.sandbox.mode).toBe('required');
  expect((await load('{"tools": {"core": "read_file"}}')).settings.tools.core).toEqual([]);
  expect((await load('{"mcp": {"allowed": 5}}')).settings.mcp.allowed).toEqual([]);
  expect((await load('{"folderTrust": "no"}')).settings.security.folderTrust.enabled).toBe(true);
  expect((await load('{"permissions": {"deny": "web_fetch"}}')).settings.permissions.deny).toEqual(['web_fetch']);
});

// SA22
test('a bad rule does not take the good ones with it', async () => {
  const { settings, problems } = await load(
    '{"permissions": {"deny": ["a", "", 7, "b(", "toString", "__proto__", "c(d *)"]}}',
  );
  expect(settings.permissions.deny).toEqual(['a', 'toString', '__proto__', 'c(d *)']);
  expect(problems).toHaveLength(3);
});

test('a server with a mistake is left out as a whole, the others stay', async () => {
  const { settings } = await load(
    '{"mcpServers": {"a": {"command": "x", "excludeTools": [1]}, "b": {"command": "y"}}}',
  );
  expect(settings.mcpServers).toEqual({ b: { command: 'y' } });
});

// SA22, SE11
test('duplicate keys are reported; the rules of both and the stricter mode count', async () => {
  const text = `{
    "permissions": { "deny": ["a"], "deny": ["b"] },
    "permissions": { "deny": ["c"] },
    "tools": { "approvalMode": "plan" },
    "approvalMode": "yolo",
    "mcpServers": { "x": { "command": "1" }, "x": { "command": "2" } }
  }`;
  const { settings, problems } = await load(text);
  expect(settings.permissions.deny).toEqual(['a', 'b', 'c']);
  expect(settings.tools.approvalMode).toBe('plan');
  expect(settings.mcpServers).toEqual({ x: { command: '2' } });
  expect(problems.map(({ line, key }) => `${line} ${key}`)).toEqual([
    '3 permissions',
    '2 permissions.deny',
    '5 approvalMode',
    '6 mcpServers.x',
  ]);
});

test('unknown keys in Qwen Code’s file are ignored, mistakes in shared ones are reported', async () => {
  expect((await load('{"ui": {"theme": "x"}, "general": {"vimMode": true}, "$version": 2}', '.qwen')).problems).toEqual(
    [],
  );
  expect((await load('{"tools": {"exclud": ["a"]}}', '.qwen')).problems).toHaveLength(1);
});

test('the number of problems is limited', async () => {
  const { problems } = await load(`{"permissions": {"allow": [${'1,'.repeat(200_000)}]}}`);
  expect(problems).toHaveLength(50);
});

test.each<[string, string]>([
  ['repeated groups', `{${'"permissions":{"deny":["a"]},'.repeat(60_000)}}`],
  ['unknown keys', `{${Array.from({ length: 120_000 }, (_, i) => `"tool${i}":1`).join()}}`],
  [
    'unknown fields of a server',
    `{"mcpServers":{"a":{${Array.from({ length: 120_000 }, (_, i) => `"tool${i}":1`).join()}}}}`,
  ],
  ['wrong servers', `{"mcpServers":{${Array.from({ length: 60_000 }, (_, i) => `"s${i}":{"commend":1}`).join()}}}`],
  ['servers', `{"mcpServers":{${Array.from({ length: 60_000 }, (_, i) => `"s${i}":{"command":"x"}`).join()}}}`],
  ['rules', `{"permissions":{"deny":[${Array.from({ length: 150_000 }, (_, i) => `"t${i}"`).join()}]}}`],
])('a file of two megabytes full of %s does not delay the start', async (_, text) => {
  expect(text.length).toBeGreaterThan(1_000_000);
  const { problems } = await load(text);
  expect(problems.length).toBeLessThanOrEqual(50);
});

test('an empty file and a byte order mark are accepted, another encoding is not', async () => {
  expect((await load('')).problems).toEqual([]);
  expect((await load('\uFEFF{"model": {"name": "x"}}')).settings.model.name).toBe('x');
  expect((await load(Buffer.from('{"model": {}}', 'utf16le'))).problems).toHaveLength(1);
  expect((await load(Uint8Array.of(0x7b, 0xff, 0x7d))).problems).toMatchObject([
    { message: expect.stringContaining('not UTF-8') },
  ]);
});

// SE11
test('endless nesting is rejected at once', async () => {
  expect((await load(`{"a":${'['.repeat(100_000)}`)).problems).toMatchObject([
    { message: expect.stringContaining('nested deeper') },
  ]);
});

// SE11
test.each<[string, (path: string) => void, string]>([
  ['a sparse file of 2 GB', sparseFile, 'larger than'],
  ['a folder', (path) => mkdirSync(path), 'not a regular file'],
  ['a link to a device without end', (path) => symlinkSync('/dev/zero', path), 'not a regular file'],
  ['a link to itself', (path) => symlinkSync(path, path), 'ELOOP'],
  ['a file a little too large', (path) => writeFileSync(path, `{}${' '.repeat(2 * 1024 * 1024)}`), 'larger than'],
])('%s instead of the settings is reported and not read', async (_, make, message) => {
  expect((await loadFrom(make)).problems).toMatchObject([{ key: '', message: expect.stringContaining(message) }]);
});

// SE11
test.skipIf(!hasProgram('mkfifo'))('a pipe without a writer does not block', async () => {
  const { problems } = await loadFrom((path) => execFileSync('mkfifo', [path]));
  expect(problems).toMatchObject([{ message: expect.stringContaining('not a regular file') }]);
});

function loadFrom(make: (path: string) => void) {
  const base = tempDirectory({ '.lathe/keep': '' });
  make(join(base, '.lathe/settings.json'));
  const sources = { home: join(base, 'home'), latheHome: join(base, 'home/.lathe'), root: base };
  return loadSettings({ ...sources, systemFile: join(base, 'none'), isTrusted: true, env: {} });
}

function sparseFile(path: string): void {
  const descriptor = openSync(path, 'w');
  ftruncateSync(descriptor, 2 * 1024 ** 3);
  closeSync(descriptor);
}
