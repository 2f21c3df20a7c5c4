// docs/openapi.json in the hands of others: Redocly checks it, openapi-typescript makes a client of it, and that client
// compiles and runs a whole task against the real server.
//   node scripts/api-clients.mjs
// The tools are installed below bench/.work when they are not there yet: 60 MB that a checkout need not carry.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/api-clients');
const packages = ['@redocly/cli@2.77.0', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'];

if (!packages.every((name) => existsSync(join(cache, 'node_modules', name.replace(/(.)@.*/, '$1'))))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true,"type":"module"}\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', cache];
  run('npm', ['install', ...flags, ...packages]);
}
setup();
const document = join(root, 'docs/openapi.json');
node('@redocly/cli/bin/cli.js', ['lint', document, '--max-problems', '20']);
node('openapi-typescript/bin/cli.js', [document, '-o', join(cache, 'api.d.ts')]);
writeFileSync(join(cache, 'task.ts'), task());
const options = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--outDir', cache];
node('typescript/bin/tsc', [...options, join(cache, 'task.ts')]);
run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'testing/api-clients.test.ts'], {
  LATHE_API_CLIENTS: cache,
});

/** Runs a task over the generated types: prints the answer and the changed files. */
function task() {
  return `import createClient from 'openapi-fetch';
import type { paths } from './api.js';
const [, , baseUrl = '', token = '', text = ''] = process.argv;
const { GET, POST } = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + token } });
const { data: session } = await POST('/v1/sessions', { body: { mode: 'default' } });
if (!session) throw new Error('no session');
const params = { path: { id: session.id } };
await POST('/v1/sessions/{id}/prompt', { params, body: { text } });
for (;;) {
  const { data } = await GET('/v1/sessions/{id}', { params });
  if (data?.status === 'idle') break;
  const { data: open } = await GET('/v1/sessions/{id}/questions', { params });
  for (const { id: questionId } of open?.questions ?? [])
    await POST('/v1/sessions/{id}/questions/{questionId}', {
      params: { path: { id: session.id, questionId } },
      body: { option: 'yes' },
    });
}
const { data: history } = await GET('/v1/sessions/{id}/messages', { params });
const { data: changed } = await GET('/v1/sessions/{id}/files', { params });
console.log(JSON.stringify({ answer: history?.messages.at(-1)?.parts, files: changed?.files.map(({ path }) => path) }));
`;
}

function node(file, args) {
  run(process.execPath, [join(cache, 'node_modules', file), ...args]);
}

function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
