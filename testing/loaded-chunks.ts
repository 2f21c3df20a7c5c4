import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDirectory } from './temp-directory.js';

const chunks = join(import.meta.dirname, '../packages/cli/dist/chunks');

/** Appends the path of every CommonJS module that the program loads to a file. */
const watcher = `const { appendFileSync } = require('node:fs');
const { _extensions } = require('node:module');
const load = _extensions['.js'];
_extensions['.js'] = (module, file) => (appendFileSync(process.env.LOADED, file + '\\n'), load(module, file));`;

/** Sees which chunks of the built program are loaded by a process with these variables. */
export function watchChunks() {
  const place = tempDirectory({ 'watch.cjs': watcher, loaded: '' });
  const list = join(place, 'loaded');
  const files = () => readFileSync(list, 'utf8').split('\n').slice(0, -1);
  return {
    env: { LOADED: list, NODE_OPTIONS: `--require ${join(place, 'watch.cjs')}` },
    files,
    isLoaded: (chunk: string) => files().some((file) => file.includes(chunk)),
  };
}

/** Names of the chunks that contain a text. */
export function chunksWith(text: string): string[] {
  return readdirSync(chunks).filter((name) => readFileSync(join(chunks, name), 'utf8').includes(text));
}
