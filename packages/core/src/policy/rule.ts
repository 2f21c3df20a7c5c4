import { checkCommandRule } from '../process/rules/command-rule.js';
import { isExactRule, maxExactLength } from '../process/rules/exact-rule.js';
import { globProblem } from '../text/glob/compile-glob.js';
import { checkHostRule } from './match-host.js';

/** A permission rule: `tool`, or `tool(spec)` where the spec narrows it to commands, paths or hosts. */
export interface Rule {
  /** As written, to be shown. */
  text: string;
  /** Canonical tool name or a pattern of names (`github__*`). */
  tool: string;
  spec?: string;
}

/** The built-in tools, each with its names in other agents and its class and display names, in lower case. */
const otherNames: Record<string, string> = {
  run_shell_command: 'bash shell shelltool',
  read_file: 'read readfile readfiletool',
  read_many_files: 'readmanyfiles readmanyfilestool',
  edit: 'edittool replace multiedit',
  write_file: 'write writefile writefiletool',
  list_directory: 'ls listfiles lstool',
  glob: 'globtool findfiles',
  grep_search: 'grep greptool search_file_content',
  web_fetch: 'webfetch webfetchtool',
  web_search: 'websearch websearchtool',
  save_memory: 'savememory memorytool',
  task: 'agent tasktool',
  task_control: 'taskcontrol taskcontroltool',
  tool_search: 'toolsearch',
  todo_write: 'todowrite todowritetool',
  exit_plan_mode: 'exitplanmode exitplanmodetool',
};

/** The names of the built-in tools, whether they are set up or not. */
export const ownNames: ReadonlySet<string> = new Set(Object.keys(otherNames));

const canonicalNames = new Map(
  Object.entries(otherNames).flatMap(([name, others]) => [name, ...others.split(' ')].map((other) => [other, name])),
);

const form = /^([A-Za-z_][\w.*-]*)(?:\(([\s\S]*)\))?$/;
const maxLength = 1000;
const tooLong = `a rule has at most ${maxLength} characters`;

/** The rule, or a sentence that explains why the text is not one. */
export function parseRule(text: string): Rule | string {
  const trimmed = text.trim();
  if (trimmed.length > maxExactLength + maxLength) return tooLong;
  const match = form.exec(trimmed);
  if (!match)
    return 'a rule is a tool name, or a tool name with a specification in parentheses: run_shell_command(git status)';
  const [, name = '', written] = match;
  const isExact = isExactRule(written ?? '');
  // To a shell, a space at the end of a command may be a part of it.
  const spec = isExact ? written : written?.trim();
  if (trimmed.length > maxLength && !isExact) return tooLong;
  const tool = canonicalName(name);
  if (tool === '*' || /^[*_]*$/.test(tool)) return 'a rule must name a tool; `*` alone is not one';
  if (spec === undefined) return { text: trimmed, tool };
  if (spec === '') return 'the parentheses are empty; leave them out to mean every use of the tool';
  return specProblem(tool, spec) ?? { text: trimmed, tool, spec };
}

/** What the specification of a rule for this tool matches; `undefined` if the tool takes no specification. */
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
  return canonicalNames.get(bare.toLowerCase()) ?? bare;
}
