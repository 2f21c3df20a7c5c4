// The tools of @qwen-code/qwen-code-core, the last version of it that was published as a library.
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { peerPackage } from '../case.mjs';
import { textOf, unattended } from './gemini-family.mjs';

export async function open({ root, scratch, corpora, ...place }) {
  const dist = join(peerPackage(place, 'qwen-core', '@qwen-code/qwen-code-core'), 'dist');
  Object.assign(process.env, { HOME: scratch, PATH: `${dirname(rgPath)}:${process.env.PATH}` });
  const load = (path) => import(pathToFileURL(join(dist, path)).href);
  const qwen = await load('index.js');
  const { ReadManyFilesTool } = await load('src/tools/read-many-files.js');
  const { RipGrepTool } = await load('src/tools/ripGrep.js');
  const config = new qwen.Config({
    ...unattended(root, 'qwen3-coder'),
    useRipgrep: true,
    includeDirectories: [dirname(scratch), corpora],
  });
  const built = new Map();
  const run = async (Tool, params) => {
    if (!built.has(Tool)) built.set(Tool, new Tool(config));
    return textOf(await built.get(Tool).build(params).execute(new AbortController().signal));
  };
  return {
    grep: (pattern, path, include) => run(RipGrepTool, { pattern, path, ...(include && { include }) }),
    glob: (pattern, path) => run(qwen.GlobTool, { pattern, path }),
    ls: (path) => run(qwen.LSTool, { path }),
    read: (path, offset, limit) => run(qwen.ReadFileTool, { absolute_path: path, ...(limit && { offset, limit }) }),
    readMany: (paths) => run(ReadManyFilesTool, { paths }),
    edit: (path, old_string, new_string, hits) =>
      run(qwen.EditTool, { file_path: path, old_string, new_string, ...(hits && { expected_replacements: hits }) }),
    write: (path, content) => run(qwen.WriteFileTool, { file_path: path, content }),
    shell: (command) => run(qwen.ShellTool, { command, is_background: false }),
  };
}
