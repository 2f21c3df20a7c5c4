import { testLayers, testPackage } from '../../../testing/architecture.js';

const src = import.meta.dirname;

testPackage(src, ['@lathe/core', '@lathe/agent']);

testLayers(
  src,
  [
    { name: 'job' },
    { name: 'queue' },
    { name: 'files' },
    { name: 'run' },
    { name: 'follow' },
    { name: 'worker', beside: 'part' },
    { name: 'submit', beside: 'part' },
    { name: 'commands' },
    { name: 'index' },
  ],
  { ioredis: 'queue', pg: 'queue', aws4fetch: 'files' },
);
