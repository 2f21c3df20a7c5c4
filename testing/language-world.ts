import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { directCall } from '../packages/core/src/contract/tool-call.js';
import { IgnoreRules } from '../packages/core/src/files/ignore/ignore-rules.js';
import { LatheHome } from '../packages/core/src/files/lathe-home.js';
import { CodeNavigationTool } from '../packages/core/src/languages/code-navigation.js';
import type { LanguageSetting } from '../packages/core/src/languages/known-languages.js';
import { LanguageServers } from '../packages/core/src/languages/language-servers.js';
import { childEnvironment } from '../packages/core/src/process/run/environment.js';
import { CommandRunner } from '../packages/core/src/process/run/run-command.js';
import { tempDirectory } from './temp-directory.js';

export const fakeLanguageServer = join(import.meta.dirname, 'children', 'fake-language-server.mjs');

/** A fake server for `.demo` files with one of its faults. */
export function fakeLanguage(fault: string, ...more: string[]): Record<string, LanguageSetting> {
  return { demo: { command: process.execPath, args: [fakeLanguageServer, fault, ...more], extensions: ['.demo'] } };
}

export interface WorldOptions {
  settings?: Record<string, LanguageSetting>;
  isTrusted?: boolean;
  /** Where servers are looked for besides the project; nowhere by default. */
  path?: string;
  /** Long by default, so that a busy machine does not matter. */
  waitMs?: number;
  idleMs?: number;
  memoryMb?: number;
}

/** A project with language servers, and edits as the tools make them: begin, write, report. */
export function languageWorld(files: Record<string, string>, options: WorldOptions = {}) {
  const { settings = {}, isTrusted = true, path = '', waitMs = 60_000, memoryMb = -1, ...rest } = options;
  const root = tempDirectory();
  const fileOf = (name: string) => join(root, name);
  const put = (name: string, text: string) => {
    mkdirSync(dirname(fileOf(name)), { recursive: true });
    writeFileSync(fileOf(name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  const runner = new CommandRunner(new LatheHome(tempDirectory()));
  const pids: number[] = [];
  const servers = new LanguageServers({
    ...rest,
    workspace: { root, roots: [root], display: (file) => (file.startsWith(root) ? file.slice(root.length + 1) : file) },
    settings,
    visibility: { rules: new IgnoreRules([root]) },
    places: { roots: [root], path, isTrusted, isContained: () => true },
    waitMs,
    start: async ({ argv }) => {
      const limits = { processes: -1, fileMb: -1, memoryMb };
      const program = await runner.startProgram({ argv, cwd: root, env: childEnvironment(process.env), limits });
      pids.push(program.pid);
      return program;
    },
  });
  onTestFinished(() => servers.close());
  const signal = new AbortController().signal;
  const read = (name: string) => {
    try {
      return readFileSync(fileOf(name), 'utf8');
    } catch {
      return null;
    }
  };
  const write = async (name: string, after: string) => {
    const check = servers.begin({ path: fileOf(name), before: read(name), after });
    put(name, after);
    return (await check?.report(signal)) ?? '';
  };
  const edit = (name: string, from: string, to: string) =>
    write(
      name,
      (read(name) ?? '').replace(from, () => to),
    );
  const navigate = (params: Parameters<CodeNavigationTool['execute']>[0]) =>
    new CodeNavigationTool(servers).execute(params, signal, { ...directCall(), locate: async (file) => file });
  return { root, servers, pids, fileOf, put, read, write, edit, navigate };
}
