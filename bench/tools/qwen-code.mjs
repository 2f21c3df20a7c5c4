// The file tools of the Qwen Code program, whose modules export them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NotThere, peerPackage } from '../case.mjs';
import { textOf, unattended } from './gemini-family.mjs';

export async function open({ root, scratch, ...place }) {
  process.env.HOME = scratch;
  const folder = join(peerPackage(place, 'qwen-cli', '@qwen-code/qwen-code'), 'chunks');
  const { EditTool } = await load(folder, (name) => name.startsWith('edit-'));
  const { WriteFileTool } = await load(folder, (name) => name.startsWith('write-file-'));
  const { Config } = await load(folder, (name) => exportsConfig(join(folder, name)));
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

function load(folder, isMeant) {
  const name = readdirSync(folder).find(isMeant);
  if (name === undefined) throw new NotThere('its files are put together differently');
  return import(pathToFileURL(join(folder, name)).href);
}

function exportsConfig(path) {
  const [, names = ''] = /^export \{([^}]*)\};\s*$/m.exec(readFileSync(path, 'utf8')) ?? [];
  return /^ {2}Config,?$/m.test(names);
}
