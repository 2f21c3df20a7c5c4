import { testLayers, testPackage } from '../../../testing/architecture.js';

const src = import.meta.dirname;

testPackage(src, ['@lathe/core', '@lathe/agent']);

testLayers(
  src,
  [
    { name: 'command-line' },
    { name: 'render' },
    { name: 'screen' },
    { name: 'mcp', beside: 'input' },
    { name: 'mentions', beside: 'input' },
    { name: 'doctor', beside: 'input' },
    { name: 'terminal' },
    { name: 'startup' },
    { name: 'first-run' },
    { name: 'drivers' },
    { name: 'slash' },
    { name: 'completion' },
    { name: 'headless', beside: 'front end' },
    { name: 'tui', beside: 'front end' },
    { name: 'view', beside: 'front end' },
    { name: 'acp', beside: 'front end' },
    { name: 'server', beside: 'front end' },
    { name: 'fleet', beside: 'front end' },
    { name: 'demo' },
    { name: 'commands' },
    { name: 'run' },
    { name: 'load-program' },
    { name: 'main' },
  ],
  {
    'react-reconciler': 'screen',
    marked: 'render',
    lowlight: 'render',
    '@xterm/headless': 'demo',
    '@agentclientprotocol/sdk': 'acp',
  },
);
