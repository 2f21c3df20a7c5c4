import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importsOf, testLayers, testPackage } from '../../../testing/architecture.js';

const src = import.meta.dirname;

testPackage(src, []);

testLayers(
  src,
  [
    { name: 'contract' },
    { name: 'text' },
    { name: 'async' },
    { name: 'telemetry' },
    { name: 'files', beside: 'capability' },
    { name: 'process', beside: 'capability', also: ['files'] },
    { name: 'web', beside: 'capability', also: ['files'] },
    { name: 'settings', beside: 'capability', also: ['files'] },
    { name: 'rewind' },
    { name: 'tools' },
    { name: 'policy' },
    { name: 'scheduler' },
    { name: 'hooks' },
    { name: 'discovery', beside: 'source' },
    { name: 'mcp', beside: 'source' },
    { name: 'plugins', beside: 'source' },
    { name: 'testing' },
    { name: 'lathe' },
    { name: 'index', beside: 'entry' },
    { name: 'entry-tools', beside: 'entry' },
    { name: 'entry-mcp', beside: 'entry' },
    { name: 'entry-discovery', beside: 'entry' },
    { name: 'entry-testing', beside: 'entry' },
    { name: 'entry-host', beside: 'entry' },
  ],
  {
    '@modelcontextprotocol/': 'mcp',
    unbash: 'process',
    undici: 'web',
    '@vscode/ripgrep': 'files',
  },
);

test('a tool file imports no other tool file', () => {
  const shared = [
    'tools',
    'standard-schema',
    'tool-registry',
    'file-change-tool',
    'search-tool',
    'shell-judge',
    'definition-pin',
  ];
  const offences = readdirSync(`${src}/tools`)
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !shared.includes(file.slice(0, -3)))
    .flatMap((file) =>
      importsOf(src, `tools/${file}`)
        .filter((specifier) => specifier.startsWith('./') && !shared.includes(specifier.slice(2, -3)))
        .map((specifier) => `${file} imports ${specifier}`),
    );
  expect(offences).toEqual([]);
});
