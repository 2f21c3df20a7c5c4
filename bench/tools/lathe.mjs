import { join } from 'node:path';
import {
  analyzeCommand,
  BackgroundCommands,
  CommandRunner,
  childEnvironment,
  EditTool,
  FileChanges,
  FileLocks,
  GlobTool,
  GrepTool,
  IgnoreRules,
  Journal,
  KeptCommands,
  LatheHome,
  LSTool,
  ReadFileTool,
  ReadManyFilesTool,
  Ripgrep,
  Sandbox,
  SeenFiles,
  ShellTool,
  unattendedVariables,
  Workspace,
  WriteFileTool,
} from '../../packages/core/dist/entry-tools.js';
import { textOf, toParts } from '../../packages/core/dist/index.js';

const never = new AbortController().signal;

/** As when a person calls: what is replaced need not have been read before. */
class EverythingSeen extends SeenFiles {
  knowledgeOf() {
    return 'all';
  }
}

/** Our tools, under the verbs that every library here shares. */
export async function open({ root, scratch }, { sandbox: mode = 'off', read: limits } = {}) {
  const workspace = await Workspace.open(root, [scratch]);
  const home = new LatheHome(join(scratch, 'home'));
  const visibility = { rules: new IgnoreRules(workspace.roots) };
  const seen = new EverythingSeen();
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen });
  const runner = new CommandRunner(home);
  const env = childEnvironment(process.env, { set: unattendedVariables });
  const tools = {
    grep: new GrepTool(workspace, visibility, new Ripgrep()),
    glob: new GlobTool(workspace, visibility, new Ripgrep()),
    ls: new LSTool(workspace, visibility),
    read: new ReadFileTool(workspace, seen, visibility, limits),
    readMany: new ReadManyFilesTool(workspace, seen, visibility, 5_000_000),
    edit: new EditTool(workspace, changes),
    write: new WriteFileTool(workspace, changes),
    shell: new ShellTool({
      workspace,
      runner,
      sandbox: new Sandbox({ mode, roots: workspace.roots, latheHome: home, userHome: env.HOME ?? '/' }),
      background: new BackgroundCommands(runner, new KeptCommands(home)),
      analyze: analyzeCommand,
      env,
    }),
  };
  const run = async (tool, params, signal = never) => {
    // As every call is, and as the others do.
    const problem = tool.validateToolParams(params);
    if (problem !== null) throw new Error(problem);
    const { llmContent } = await tool.execute(params, signal);
    return textOf(toParts(llmContent));
  };
  return {
    tools,
    grep: (pattern, path, glob) => run(tools.grep, { pattern, path, ...(glob && { glob }) }),
    // By a tool that has not searched before.
    grepFirst: (pattern, path, glob) =>
      run(new GrepTool(workspace, visibility, new Ripgrep()), { pattern, path, ...(glob && { glob }) }),
    glob: (pattern, path) => run(tools.glob, { pattern, path }),
    ls: (path) => run(tools.ls, { path }),
    read: (path, offset, limit) => run(tools.read, { absolute_path: path, ...(limit && { offset, limit }) }),
    readMany: (paths) => run(tools.readMany, { paths }),
    edit: (path, old_string, new_string, hits = 0) =>
      run(tools.edit, { file_path: path, old_string, new_string, replace_all: hits > 0 }),
    write: (path, content) => run(tools.write, { file_path: path, content }),
    shell: (command, signal) => run(tools.shell, { command }, signal),
  };
}
