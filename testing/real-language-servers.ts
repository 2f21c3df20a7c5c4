import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench', '.work', 'language-servers');
const packages = {
  'typescript-language-server': 'typescript-language-server@5.1.3',
  'pyright-langserver': 'pyright@1.1.414',
  'bash-language-server': 'bash-language-server@5.8.1',
  tsserver: 'typescript@5.9.3',
};

/** TypeScript 7, which this repository builds with. */
export const typescript7 = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Where the servers of the npm registry are; installs them once, below bench/.work. */
export function installedServers(): string {
  const bin = join(cache, 'node_modules', '.bin');
  if (Object.keys(packages).every((name) => existsSync(join(bin, name)))) return bin;
  mkdirSync(cache, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', cache];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, ...Object.values(packages)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return bin;
}

/** `PATH` for one program: servers start with `node` and `python3`, and are found only where they are meant to be. */
export function pathWith(directory: string): string {
  return [directory, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
}

/** A problem as a full check of the project prints it. */
export interface CheckedProblem {
  file: string;
  line: number;
  column: number;
  code: string;
  message: string;
}

const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);

/** `tsc --noEmit` over the whole project. */
export function checkWithTsc(project: string): CheckedProblem[] {
  const { stdout } = spawnSync(process.execPath, [typescript7, '--noEmit', '--pretty', 'false'], {
    cwd: project,
    encoding: 'utf8',
  });
  const found: CheckedProblem[] = [];
  for (const line of stdout.split('\n')) {
    const match = /^(\S+)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(line);
    const last = found.at(-1);
    if (match) {
      const [, file = '', at, column, code = '', message = ''] = match;
      found.push({ file, line: Number(at), column: Number(column), code, message: flat(message) });
    } else if (last && line.startsWith('  ')) last.message = flat(`${last.message} ${line}`);
  }
  return found;
}

interface PyrightReport {
  generalDiagnostics: {
    file: string;
    severity: string;
    message: string;
    rule?: string;
    range: { start: { line: number; character: number } };
  }[];
}

/** `pyright` over the whole project. */
export function checkWithPyright(project: string): CheckedProblem[] {
  const program = join(installedServers(), 'pyright');
  const { stdout } = spawnSync(program, ['--outputjson'], { cwd: project, encoding: 'utf8' });
  const { generalDiagnostics }: PyrightReport = JSON.parse(stdout);
  return generalDiagnostics
    .filter(({ severity }) => severity === 'error' || severity === 'warning')
    .map(({ file, message, rule = '', range: { start } }) => {
      const place = { file: file.slice(project.length + 1), line: start.line + 1, column: start.character + 1 };
      return { ...place, code: rule, message: flat(message) };
    });
}

/** The problems that a result of an edit names. */
export function reportedProblems(text: string): CheckedProblem[] {
  return text.split('\n').flatMap((each) => {
    const match = /^(\S+):(\d+):(\d+) (?:error|warning)(?: (\S+))?: (.*)$/.exec(each);
    if (!match) return [];
    const [, file = '', line, column, code = '', message = ''] = match;
    return [{ file, line: Number(line), column: Number(column), code, message: flat(message) }];
  });
}

/** Lines `line` to `line + removed` of a file were replaced by `added` others. */
export interface LineChange {
  file: string;
  line: number;
  removed: number;
  added: number;
}

/** What a full check finds after a change and did not find before it. */
export function newSince(
  before: readonly CheckedProblem[],
  after: readonly CheckedProblem[],
  { file, line, removed, added }: LineChange,
): CheckedProblem[] {
  const placeOf = (problem: CheckedProblem, size: number, shift: number) => {
    if (problem.file !== file || problem.line < line) return `${problem.line}:${problem.column}`;
    if (problem.line < line + size) return 'changed';
    return `${problem.line + shift}:${problem.column}`;
  };
  const keyOf = (problem: CheckedProblem, place: string) =>
    [problem.file, place, problem.code, problem.message].join('\0');
  const known = before.map((problem) => keyOf(problem, placeOf(problem, removed, added - removed)));
  return after.filter((problem) => {
    const at = known.indexOf(keyOf(problem, placeOf(problem, added, 0)));
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

/** In an order that does not depend on who found them. */
export function inOrder(problems: readonly CheckedProblem[]): string[] {
  return problems
    .map(({ file, line, column, code, message }) => `${file}:${line}:${column} ${code} ${message}`)
    .sort((a, b) => (a < b ? -1 : 1));
}
