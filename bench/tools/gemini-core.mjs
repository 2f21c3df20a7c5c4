// The tools of @google/gemini-cli-core, on a Config of its own as they demand.
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { peerPackage } from '../case.mjs';
import { textOf, unattended } from './gemini-family.mjs';

export async function open({ root, scratch, corpora, ...place }) {
  const dist = join(peerPackage(place, 'gemini-core', '@google/gemini-cli-core'), 'dist');
  process.env.HOME = scratch;
  const load = (path) => import(pathToFileURL(join(dist, path)).href);
  const gemini = await load('index.js');
  const { ReadManyFilesTool } = await load('src/tools/read-many-files.js');
  const config = new gemini.Config({
    ...unattended(root, 'gemini-2.5-pro'),
    useRipgrep: true,
    folderTrust: false,
    disableLLMCorrection: true,
    includeDirectories: [dirname(scratch), corpora],
  });
  // Its package looks for one that the registry does not bring.
  config.getRipgrepPath = async () => rgPath;
  // Its tools ask for both even when no model is involved.
  await config.storage?.initialize?.();
  config.baseLlmClient ??= {};
  const bus = config.getMessageBus?.() ?? config.messageBus;
  const built = new Map();
  const run = async (Tool, params) => {
    if (!built.has(Tool)) built.set(Tool, new Tool(config, bus));
    const invocation = built.get(Tool).build(params);
    return textOf(await invocation.execute({ abortSignal: new AbortController().signal }));
  };
  return {
    grep: (pattern, path, glob) => run(gemini.RipGrepTool, { pattern, dir_path: path, include_pattern: glob }),
    glob: (pattern, path) => run(gemini.GlobTool, { pattern, dir_path: path }),
    ls: (path) => run(gemini.LSTool, { dir_path: path }),
    read: (path, offset = 0, limit) =>
      run(gemini.ReadFileTool, { file_path: path, ...(limit && { start_line: offset + 1, end_line: offset + limit }) }),
    readMany: (include) => run(ReadManyFilesTool, { include }),
    edit: (path, old_string, new_string, hits = 0) =>
      run(gemini.EditTool, { file_path: path, old_string, new_string, instruction: 'x', allow_multiple: hits > 0 }),
    write: (path, content) => run(gemini.WriteFileTool, { file_path: path, content }),
    shell: (command) => run(gemini.ShellTool, { command }),
  };
}
