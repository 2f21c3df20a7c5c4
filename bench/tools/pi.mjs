// The tools of @earendil-works/pi-coding-agent.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { NotThere, peerPackage } from '../case.mjs';

export async function open({ root, scratch, ...place }) {
  const main = join(peerPackage(place, 'pi', '@earendil-works/pi-coding-agent'), 'dist', 'bundle', 'index.js');
  // It looks for ripgrep on the PATH, and would otherwise download one.
  symlinkSync(rgPath, join(scratch, 'rg'));
  Object.assign(process.env, { PATH: `${scratch}:${process.env.PATH}`, PI_OFFLINE: '1' });
  const pi = await import(pathToFileURL(main).href);
  const run = async (create, params) => {
    const { content } = await create(root).execute('id', params, new AbortController().signal, () => {});
    return content.map(({ text = '' }) => text).join('');
  };
  return {
    // The others ignore the case of small letters unless told not to; it has to be asked for that, to do the same.
    grep: (pattern, path, glob) =>
      run(pi.createGrepTool, { pattern, path, ignoreCase: !/[A-Z]/.test(pattern), ...(glob && { glob }) }),
    glob: (pattern, path) => run(pi.createFindTool, { pattern, path }),
    ls: (path) => run(pi.createLsTool, { path }),
    read: (path, offset, limit) => run(pi.createReadTool, { path, ...(limit && { offset: offset + 1, limit }) }),
    readMany: missing,
    edit: (path, oldText, newText, hits = 0) =>
      hits > 0 ? missing() : run(pi.createEditTool, { path, edits: [{ oldText, newText }] }),
    write: (path, content) => run(pi.createWriteTool, { path, content }),
    shell: (command) => run(pi.createBashTool, { command }),
  };
}

function missing() {
  throw new NotThere('n/a');
}
