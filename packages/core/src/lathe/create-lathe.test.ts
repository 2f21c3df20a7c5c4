import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { arePlain } from '../text/schema/schema-check.js';
import { isRecord, type SchemaNode, subschemas } from '../text/schema/schema-nodes.js';
import { createLathe } from './create-lathe.js';
import { personalFolders } from './home-directories.js';

const never = new AbortController().signal;

function options(more: object = {}) {
  return { cwd: tempDirectory(), env: {}, home: tempDirectory(), latheHome: tempDirectory(), ...more };
}

test('who never aborts needs no signal', async () => {
  const lathe = await createLathe(options());
  expect(await lathe.discover()).toEqual(new Map());
  const [outcome] = await lathe.run([{ name: 'list_directory', args: { path: lathe.workspace.root } }]);
  expect(outcome?.status).toBe('success');
  await lathe.close();
});

test('nothing runs after close', async () => {
  const lathe = await createLathe(options());
  await lathe.close();
  expect(() => lathe.run([{ name: 'list_directory' }], never)).toThrow('No call can be run: this Lathe is closed');
});

test.each([
  [{ cwd: undefined }, 'cwd is missing: createLathe({ cwd: process.cwd(), env: process.env })'],
  [{ env: undefined }, 'env is missing: createLathe({ cwd: process.cwd(), env: process.env })'],
  [{ cwd: 'relative' }, 'cwd must be an absolute path, not "relative"'],
  [{ cwd: 5 }, 'cwd must be an absolute path, not 5'],
  [{ env: 'PATH' }, 'env must be an object, such as process.env'],
  [{ tools: {} }, 'tools must be a list'],
  [{ tools: [{}] }, 'is not a tool'],
  [{ approver: () => ({ outcome: 'once' }) }, 'approver must have a method decide'],
  [{ isTrusted: 'false' }, 'isTrusted must be true or false'],
  [{ cwd: '/no/such/directory' }, 'cwd is not a directory: /no/such/directory'],
  [
    { flags: { 'tools.aprovalMode': 'yolo' } },
    'there is no setting tools.aprovalMode. Did you mean tools.approvalMode?',
  ],
])('%j is refused', async (more, message) => {
  await expect(createLathe(options(more))).rejects.toThrow(message);
});

const qwenHome = {
  '.qwen/settings.json': '{ "permissions": { "deny": ["read_file"] }, "nonsense": }',
  '.qwen/.env': 'FROM_QWEN=1',
};

test.each([
  ['the option', { readsQwenHome: false }, {}],
  ['a flag', { flags: { 'general.readQwenHome': false } }, {}],
  ["the person's settings", {}, { 'settings.json': '{ "general": { "readQwenHome": false } }' }],
])('~/.qwen is left alone by %s', async (_by, more, files) => {
  const home = tempDirectory(qwenHome);
  const lathe = await createLathe(options({ home, latheHome: tempDirectory(files), ...more }));
  expect([lathe.problems, lathe.host.policy.rules().deny, lathe.host.loaded.env['FROM_QWEN']]).toEqual([
    [],
    [],
    undefined,
  ]);
  expect(personalFolders({ ...lathe, ...lathe.host })).toEqual([lathe.host.home.path]);
  await lathe.close();
});

test('a project cannot make ~/.qwen count less, nor switch off the audit log', async () => {
  const cwd = tempDirectory({ '.lathe/settings.json': '{ "general": { "readQwenHome": false, "auditLog": false } }' });
  const lathe = await createLathe(options({ cwd, home: tempDirectory(qwenHome), isTrusted: true }));
  expect(lathe.settings.general).toMatchObject({ readQwenHome: true, auditLog: true });
  expect(lathe.host.loaded.env['FROM_QWEN']).toBe('1');
  await lathe.close();
});

test.each([
  ['written', {}, true],
  ['not written with the option', { audit: false }, false],
  ['not written with the setting', { flags: { 'general.auditLog': false } }, false],
  ['given to a function', { audit: () => {} }, false],
])('the audit log is %s', async (_how, more, isWritten) => {
  const lathe = await createLathe(options(more));
  await lathe.run([{ name: 'list_directory', args: { path: lathe.workspace.root } }], never);
  await lathe.close();
  expect(existsSync(lathe.host.home.file('audit/calls.jsonl'))).toBe(isWritten);
});

test('the start does not compile a meta-schema: every built-in schema is a plain one', async () => {
  const lathe = await createLathe(options());
  await lathe.close();
  const nodesIn = (schema: unknown): SchemaNode[] =>
    isRecord(schema) ? [schema, ...subschemas(schema).flatMap(nodesIn)] : [];
  const schemas = lathe.tools
    .getAllTools()
    .map(({ name, parameterSchema }) => ({ name, nodes: nodesIn(parameterSchema) }));
  expect(schemas.filter(({ nodes }) => !arePlain(nodes)).map(({ name }) => name)).toEqual([]);
});
