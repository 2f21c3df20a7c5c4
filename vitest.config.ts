import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const source = (path: string) => join(import.meta.dirname, 'packages', path);

export default defineConfig({
  resolve: {
    // The sources, not what was built of them: two copies of a class such as ToolError would not know each other.
    alias: [
      { find: /^@lathe\/core$/, replacement: source('core/src/index.ts') },
      { find: /^@lathe\/core\/(\w+)$/, replacement: source('core/src/entry-$1.ts') },
      { find: /^@lathe\/agent$/, replacement: source('agent/src/index.ts') },
      { find: /^@lathe\/agent\/(models|client)$/, replacement: source('agent/src/$1/index.ts') },
      { find: /^@lathe\/fleet$/, replacement: source('fleet/src/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'testing/**/*.test.ts', 'docs/**/*.test.ts'],
    // A seed repeats what random tests did: see testing/long-run.ts.
    setupFiles: process.env['LATHE_SEED'] ? ['testing/seed.ts'] : [],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is waited for may take long on a busy machine; one second, the default, is not long.
    expect: { poll: { timeout: 20_000 } },
    // Tests wait a lot: three workers keep two cores busy, and more only make timeouts likelier.
    maxWorkers: 3,
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
});
