import { checkCommandRule } from '../process/command-rule.js';

/** A permission rule: `tool`, or `tool(spec)` where the spec narrows it to commands, paths or hosts. */
export interface Rule {
  /** As its author wrote it; shown to people. */
  text: string;
  /** Canonical tool name or a pattern of names (`github__*`). */
  tool: string;
  spec?: string;
}

/** How a rule is read: a rule that forbids is read widely, one that permits narrowly. */
export type Reading = 'wide' | 'narrow';

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
  todowrite: 'todo_write',
  todowritetool: 'todo_write',
  exitplanmode: 'exit_plan_mode',
  exitplanmodetool: 'exit_plan_mode',
};

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
  const problem = tool === 'run_shell_command' ? checkCommandRule(spec) : undefined;
  return problem ?? { text: trimmed, tool, spec: spec.trim() };
}

/**
 * `Bash` → `run_shell_command`, `mcp__github__search` → `github__search`. `mcp__github` stays: it may mean a tool of the
 * server named `mcp`, or all tools of `github`.
 */
export function canonicalName(name: string): string {
  const bare = name.replace(/^_+/, '').replace(/^mcp__(?=.+__)/, '');
  const known = Object.hasOwn(otherNames, bare.toLowerCase()) ? otherNames[bare.toLowerCase()] : undefined;
  return known ?? bare;
}
