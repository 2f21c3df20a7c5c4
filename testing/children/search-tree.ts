import { toBytePath } from '../../packages/core/src/files/byte-path.js';
import { IgnoreRules } from '../../packages/core/src/files/ignore/ignore-rules.js';
import { Ripgrep } from '../../packages/core/src/files/search/ripgrep.js';
import { searchPlace } from '../../packages/core/src/files/search/search-place.js';
import { searchText } from '../../packages/core/src/files/search/search-text.js';

/** Searches a directory, for tests that need another user or mounts of their own. */
const [, , root = '', program = ''] = process.argv;

async function search(): Promise<object> {
  const { files, notes } = await searchText(new Ripgrep(() => Promise.resolve(program)), {
    pattern: 'needle',
    letters: 'smart',
    context: 0,
    path: toBytePath(root),
    kind: await searchPlace(root),
    limit: 100,
    timeoutMs: 30_000,
    rules: new IgnoreRules([root]),
    signal: new AbortController().signal,
  });
  return { found: files.map(({ path }) => path), notes: notes.lines() };
}

void search()
  .catch(({ type, message }) => ({ error: { type, message } }))
  .then((result) => process.stdout.write(JSON.stringify(result)));
