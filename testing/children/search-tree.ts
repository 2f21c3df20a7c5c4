import { toBytePath } from '../../packages/core/src/files/byte-path.js';
import { IgnoreRules } from '../../packages/core/src/files/ignore-rules.js';
import { Ripgrep } from '../../packages/core/src/files/ripgrep.js';
import { searchText } from '../../packages/core/src/files/search-text.js';

/** Searches a directory, for tests that need another user or mounts of their own. */
const [, , root = '', program = ''] = process.argv;

void searchText(new Ripgrep(() => Promise.resolve(program)), {
  pattern: 'needle',
  letters: 'smart',
  context: 0,
  path: toBytePath(root),
  kind: 'directory',
  limit: 100,
  timeoutMs: 30_000,
  rules: new IgnoreRules([root]),
  signal: new AbortController().signal,
}).then(({ files, notes }) =>
  process.stdout.write(JSON.stringify({ found: files.map(({ path }) => path), notes: notes.lines() })),
);
