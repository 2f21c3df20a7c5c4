import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'testing/**/*.test.ts', 'docs/**/*.test.ts'],
    // A seed repeats what random tests did: see testing/long-run.ts.
    setupFiles: process.env['LATHE_SEED'] ? ['testing/seed.ts'] : [],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is waited for may take long on a busy machine; one second, the default, is not long.
    expect: { poll: { timeout: 20_000 } },
    // A machine with two cores: more workers only make timeouts likelier.
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
});
