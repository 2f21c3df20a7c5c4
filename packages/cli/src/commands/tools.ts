import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolder, visibleText } from '@lathe/core/host';
import { type Flags, UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { discoverTools, openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe tools` lists the tools a model can call; `lathe tools new` begins one. */
export const command: Command = {
  async run({ operands: [action, name, ...extra], flags }, io, signal) {
    if (action === 'new') return writeTool(name, extra, flags, io);
    if (action !== undefined) throw new UsageError(`tools does not take the argument ${JSON.stringify(action)}`);
    const lathe = await openLathe(flags, io);
    await discoverTools(lathe, io, signal);
    const entries = lathe.tools.entries();
    if (flags.json) {
      const list = entries.map(({ tool, source }) => ({
        name: tool.name,
        displayName: tool.displayName,
        description: tool.description,
        kind: tool.kind,
        source,
        parameterSchema: tool.parameterSchema,
      }));
      io.out(JSON.stringify(list, null, 2));
    } else {
      const width = Math.max(...entries.map(({ tool }) => tool.name.length), 0);
      for (const { tool, source } of entries)
        io.out(visibleText(`${tool.name.padEnd(width)}  ${source}  ${firstSentence(tool.description)}`));
    }
    await lathe.close();
    return exitCodes.success;
  },
};

function firstSentence(text: string): string {
  return /^[^\n]*?\.(?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0] ?? '';
}

/** Writes a tool that works, and a test for it. */
async function writeTool(name: string | undefined, extra: readonly string[], flags: Flags, io: Io): Promise<number> {
  const [plugin] = extra;
  if (name === undefined || extra.length > 1)
    throw new UsageError(
      'tools new needs one name, and the folder of a plugin if it is for one: lathe tools new <name> [dir]',
    );
  if (plugin !== undefined && !existsSync(join(io.cwd, plugin, 'plugin.json')))
    throw new UsageError(`${plugin} is not the folder of a plugin: it has no plugin.json`);
  if (!/^[A-Za-z](?!.*__)[A-Za-z0-9_-]{0,63}$/.test(name))
    throw new UsageError(`${JSON.stringify(name)} cannot name a tool: use letters, digits, - and single _`);
  if (await isBuiltIn(name, flags, io)) throw new UsageError(`${name} is a built-in tool; choose another name`);
  const shown = plugin === undefined ? '.lathe/tools' : join(plugin, ownFolder, 'tools');
  const folder = join(io.cwd, shown);
  // The test runs the tool of a project.
  const texts = {
    [`${name}.ts`]: toolText(name),
    ...(plugin === undefined && { [`${name}.test.mjs`]: testText(name) }),
  };
  const existing = Object.keys(texts).find((file) => existsSync(join(folder, file)));
  if (existing !== undefined) throw new UsageError(`${shown}/${existing} exists; choose another name`);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, file), text, { flag: 'wx' });
  if (plugin !== undefined) io.out(`Wrote ${shown}/${name}.ts. Install the plugin: lathe plugin add ${plugin}`);
  if (plugin !== undefined) return exitCodes.success;
  io.out(`Wrote .lathe/tools/${name}.ts and a test. Try it: lathe trust --yes && lathe call ${name} '{}'`);
  return exitCodes.success;
}

async function isBuiltIn(name: string, flags: Flags, io: Io): Promise<boolean> {
  const lathe = await openLathe(flags, io);
  await lathe.close();
  return lathe.tools.getTool(name) !== undefined;
}

const toolText = (name: string) => `import { defineTool } from '@lathe/core';

export default defineTool({
  name: '${name}',
  description: 'Says hello. The model reads this to decide when to call the tool.',
  parameterSchema: {
    type: 'object',
    properties: { name: { type: 'string', description: 'Who to greet.' } },
  },
  execute: ({ name = 'world' }) => \`Hello, \${name}!\`,
});
`;

const testText = (name: string) => `// node --test .lathe/tools/${name}.test.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('${name} greets by name', () => {
  const args = ['--trust', 'call', '${name}', '{"name": "Ada"}'];
  const cwd = join(import.meta.dirname, '../..');
  assert.equal(execFileSync('lathe', args, { cwd, encoding: 'utf8' }), 'Hello, Ada!\\n');
});
`;
