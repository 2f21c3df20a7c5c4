// The official clients of OpenAI, Anthropic and Google, Codex, and providers of the AI SDK against the model server of the
// tests: what they read from it must be what we read.
//   node scripts/model-clients.mjs
// They are installed below bench/.work when they are not there yet: 480 MB (400 of them Codex) that a checkout need not carry.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/model-clients');
const packages = [
  'openai@6.49.0',
  '@anthropic-ai/sdk@1.9.0',
  '@openai/codex@0.169.0',
  'ai-sdk-v2@npm:@ai-sdk/openai-compatible@1.0.61',
  'ai-sdk-v3@npm:@ai-sdk/openai-compatible@2.0.87',
  'ai-sdk-v4@npm:@ai-sdk/openai-compatible@3.0.90',
];

if (!packages.every((name) => existsSync(join(cache, 'node_modules', name.replace(/(.)@.*/, '$1'))))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', cache];
  if (spawnSync('npm', ['install', ...flags, ...packages], { stdio: 'inherit' }).status !== 0) process.exit(1);
}
setup();
checkTypes();
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'testing/model-clients.test.ts'], {
  cwd: root,
  env: { ...process.env, LATHE_MODEL_CLIENTS: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

/** The models of all versions are arguments of `fromLanguageModel`, in a strict project. */
function checkTypes() {
  const versions = ['v2', 'v3', 'v4'];
  const models = join(root, 'packages/agent/dist/models/index.js');
  const lines = [
    `import { fromLanguageModel } from ${JSON.stringify(models)};`,
    ...versions.map((version) => `import { createOpenAICompatible as ${version} } from 'ai-sdk-${version}';`),
    ...versions.map((version) => `fromLanguageModel(${version}({ name: 'x', baseURL: 'http://x' })('m'));`),
  ];
  const file = join(cache, 'types.ts');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status: result } = spawnSync(process.execPath, [tsc, '--ignoreConfig', ...options, file], {
    stdio: 'inherit',
  });
  if (result !== 0) process.exit(1);
}
