// The file tools of the Qwen Code program, which is published as one file: a copy of it exports them instead of starting.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NotThere, peerPackage } from '../case.mjs';
import { textOf, unattended } from './gemini-family.mjs';

export async function open({ root, scratch, ...place }) {
  process.env.HOME = scratch;
  const copy = copyWithExports(peerPackage(place, 'qwen-cli', '@qwen-code/qwen-code'));
  const { Config, EditTool, WriteFileTool } = await import(pathToFileURL(copy).href);
  const config = new Config(unattended(root, 'qwen3-coder'));
  // As when the file was read before.
  config.getFileReadCacheDisabled = () => true;
  const tools = { edit: new EditTool(config), write: new WriteFileTool(config) };
  const run = async (tool, params) => textOf(await tool.build(params).execute(new AbortController().signal));
  return {
    edit: (path, old_string, new_string, hits = 0) =>
      run(tools.edit, { file_path: path, old_string, new_string, replace_all: hits > 0 }),
    write: (path, content) => run(tools.write, { file_path: path, content }),
  };
}

function copyWithExports(folder) {
  const copy = join(folder, 'cli.tools.mjs');
  if (existsSync(copy)) return copy;
  const bundle = readFileSync(join(folder, 'cli.js'), 'utf8');
  const wanted = ['Config', 'EditTool', 'WriteFileTool'];
  const starters = wanted.map((name) => {
    const before = bundle.slice(0, bundle.search(new RegExp(`^ +${name} = class`, 'm')));
    return /^var (init_\w+) = __esm/m.exec(before.slice(before.lastIndexOf(' = __esm(') - 100))?.[1];
  });
  const quiet = bundle.replace(/^main\(\)\.catch/m, 'Promise.resolve().catch');
  if (quiet === bundle || starters.includes(undefined)) throw new NotThere('its file is put together differently');
  const calls = starters.map((name) => `${name}();`).join(' ');
  writeFileSync(`${copy}.${process.pid}`, `${quiet}\n${calls}\nexport { ${wanted.join(', ')} };\n`);
  renameSync(`${copy}.${process.pid}`, copy);
  return copy;
}
