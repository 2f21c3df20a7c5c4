import { testLayers, testPackage } from '../../../testing/architecture.js';

const src = import.meta.dirname;

testPackage(src, ['@lathe/core']);

testLayers(src, [
  { name: 'definition-files' },
  { name: 'models' },
  { name: 'loop' },
  { name: 'context', beside: 'part' },
  { name: 'subagents', beside: 'part' },
  { name: 'session', beside: 'part' },
  { name: 'skills', beside: 'part' },
  { name: 'page-answerer' },
  { name: 'create-agent-lathe' },
  { name: 'open-agent' },
  { name: 'open-session' },
  { name: 'index' },
]);
