import { checkCommandRule } from '../process/rules/command-rule.js';
import { globProblem } from '../text/glob/compile-glob.js';
import { checkHostRule } from './match-host.js';

/** A permission rule: `tool`, or `tool(spec)` where the spec narrows it to commands, paths or hosts. */
export interface Rule {
  /** As its author wrote it; shown to people. */
  text: string;
  /** Canonical tool name or a pattern of names (`github__*`). */
  tool: string;
  spec?: string;
}

/** Names that people bring along from other agents, and our own class and display names. */
const otherNames: Record<string, string> = {
  bash: 'run_shell_command',
  shell: 'run_shell_command',
  shelltool: 'run_shell_command',
  read: 'read_file',
  readfile: 'read_file',
  readfiletool: 'read_file',
  readmanyfiles: 'read_many_files',
  readmanyfilestool: 'read_many_files',
  edit: 'edit',
  edittool: 'edit',
  replace: 'edit',
  multiedit: 'edit',
  write: 'write_file',
  writefile: 'write_file',
  writefiletool: 'write_file',
  ls: 'list_directory',
  listfiles: 'list_directory',
  lstool: 'list_directory',
  glob: 'glob',
  globtool: 'glob',
  findfiles: 'glob',
  grep: 'grep_search',
  greptool: 'grep_search',
  search_file_content: 'grep_search',
  webfetch: 'web_fetch',
  webfetchtool: 'web_fetch',
  websearch: 'web_search',
  websearchtool: 'web_search',
  savememory: 'save_memory',
  memorytool: 'save_memory',
  agent: 'task',
  task: 'task',
  tasktool: 'task',
  toolsearch: 'tool_search',
  todowrite: 'todo_write',
  todowritetool: 'todo_write',
  exitplanmode: 'exit_plan_mode',
  exitplanmodetool: 'exit_plan_mode',
};

/** The names of the built-in tools, whether they are set up or not. */
export const ownNames: ReadonlySet<string> = new Set(Object.values(otherNames));

const form = /^([A-Za-z_][\w.*-]*)(?:\(([\s\S]*)\))?$/;
const maxLength = 1000;

/** The rule, or a sentence that says what is wrong with the text. */
export function parseRule(text: string): Rule | string {
  const trimmed = text.trim();
  if (trimmed.length > maxLength) return `a rule has at most ${maxLength} characters`;
  const match = form.exec(trimmed);
  if (!match)
    return 'a rule is a tool name, or a tool name with a specification in parentheses: run_shell_command(git status)';
  const [, name = '', spec] = match;
  const tool = canonicalName(name);
  if (tool === '*' || /^[*_]*$/.test(tool)) return 'a rule must name a tool; `*` alone is not one';
  if (spec === undefined) return { text: trimmed, tool };
  if (spec.trim() === '') return 'the parentheses are empty; leave them out to mean every use of the tool';
  return specProblem(tool, spec.trim()) ?? { text: trimmed, tool, spec: spec.trim() };
}

/** What the specification of a rule for this tool speaks of; nothing when it has no meaning there. */
export function kindOfSpec(tool: string): SpecKind | undefined {
  return specKinds.get(tool);
}

type SpecKind = 'command' | 'read' | 'write' | 'host';

const specKinds: ReadonlyMap<string, SpecKind> = new Map<string, SpecKind>([
  ['run_shell_command', 'command'],
  ['read_file', 'read'],
  ['read_many_files', 'read'],
  ['list_directory', 'read'],
  ['glob', 'read'],
  ['grep_search', 'read'],
  ['edit', 'write'],
  ['write_file', 'write'],
  ['web_fetch', 'host'],
]);

function specProblem(tool: string, spec: string): string | undefined {
  switch (kindOfSpec(tool)) {
    case 'command':
      return checkCommandRule(spec);
    case 'host':
      return checkHostRule(spec);
    case 'read':
    case 'write':
      return spec.startsWith('!') ? 'a rule for files cannot begin with `!`' : globProblem(spec);
    case undefined:
      return undefined;
  }
}

/**
 * `Bash` → `run_shell_command`, `mcp__github__search` → `github__search`. `mcp__github` stays: it may mean a tool of the
 * server named `mcp`, or all tools of `github`.
 */
export function canonicalName(name: string): string {
  const bare = name.replace(/^mcp__(?=.+__)/, '');
  const lower = bare.toLowerCase();
  if (ownNames.has(lower)) return lower;
  return (Object.hasOwn(otherNames, lower) ? otherNames[lower] : undefined) ?? bare;
}
