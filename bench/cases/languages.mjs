import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLathe, textOf } from '../../packages/core/dist/index.js';
import { group } from '../case.mjs';

const typescript = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
const never = new AbortController().signal;
const names = ['a', 'b', 'c'];

export const cases = group('languages', [
  {
    name: 'edit with problems by TypeScript 7',
    note: 'raw is an edit without a check plus 1/1.3 of the time in which the server alone answers, so that 1.3 × raw is what is allowed',
    isQuick: true,
    rounds: 20,
    contestants: {
      raw: async (place) => {
        const project = await open(place, { languages: { typescript: false } });
        const server = await openServer(place.scratch);
        const run = async () => {
          const begin = performance.now();
          const output = await project.edit();
          const edited = performance.now();
          await server.answer(project.text());
          return { output, time: edited - begin + (performance.now() - edited) / 1.3 };
        };
        return { run, close: () => (server.close(), project.close()) };
      },
      lathe: async (place) => {
        const project = await open(place, {});
        // The server is there once it has answered.
        while ((await project.edit()).includes('Not checked yet'));
        return { run: project.edit, close: project.close };
      },
    },
    verify: (output) => output.startsWith('Edited'),
    goals: [{ metric: 'time', than: 'raw', limit: 1.3, guard: 6 }],
  },
  {
    name: 'edit where no server is',
    note: 'raw is the same edit with the language switched off',
    isQuick: true,
    rounds: 20,
    contestants: {
      raw: async (place) => opened(place, { languages: { typescript: false } }),
      lathe: async (place) => opened(place, {}, { isServed: false }),
    },
    verify: (output) => output.startsWith('Edited'),
    goals: [{ metric: 'time', than: 'raw', limit: 1.15, guard: 6 }],
  },
]);

async function opened(place, flags, options) {
  const project = await open(place, flags, options);
  return { run: project.edit, close: project.close };
}

/** A project of three files, and an edit of the one that the others import. */
async function open({ scratch }, flags, { isServed = true } = {}) {
  const root = join(scratch, 'project');
  const file = join(root, 'a.ts');
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  if (isServed) symlinkSync(typescript, join(root, 'node_modules/.bin/tsc'));
  writeFileSync(join(root, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"noEmit":true,"types":[]}}');
  let round = 0;
  const text = () => `export const a = (n: number): number => n + ${round};\n`;
  writeFileSync(file, text());
  writeFileSync(join(root, 'b.ts'), "import { a } from './a';\nexport const b: number = a(1);\n");
  writeFileSync(join(root, 'c.ts'), "import { b } from './b';\nexport const c: number = b;\n");
  const lathe = await createLathe({
    cwd: root,
    home: scratch,
    latheHome: join(scratch, 'home'),
    env: { PATH: '/usr/bin:/bin' },
    isTrusted: true,
    flags: { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'off', ...flags },
  });
  const edit = async () => {
    const args = { file_path: file, old_string: `+ ${round}`, new_string: `+ ${++round}` };
    const [outcome] = await lathe.run([{ name: 'edit', args }], never);
    return textOf(outcome.llmContent);
  };
  return { edit, text, close: () => lathe.close() };
}

/** TypeScript 7 alone: a change of a file, and the problems of all three. */
async function openServer(scratch) {
  const root = join(scratch, 'project');
  const require = createRequire(join(import.meta.dirname, '../../packages/core/package.json'));
  const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-jsonrpc/node');
  const child = spawn(process.execPath, [typescript, '--lsp', '--stdio'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const rpc = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  rpc.onRequest(() => null);
  rpc.listen();
  const uri = (name) => pathToFileURL(join(root, `${name}.ts`)).href;
  await rpc.sendRequest('initialize', { processId: null, rootUri: pathToFileURL(root).href, capabilities: {} });
  await rpc.sendNotification('initialized', {});
  let version = 1;
  const textDocument = { uri: uri('a'), languageId: 'typescript', version, text: '' };
  await rpc.sendNotification('textDocument/didOpen', { textDocument });
  const answer = async (text) => {
    const changed = { textDocument: { uri: uri('a'), version: ++version }, contentChanges: [{ text }] };
    await rpc.sendNotification('textDocument/didChange', changed);
    await Promise.all(
      names.map((name) => rpc.sendRequest('textDocument/diagnostic', { textDocument: { uri: uri(name) } })),
    );
  };
  return { answer, close: () => child.kill() };
}
