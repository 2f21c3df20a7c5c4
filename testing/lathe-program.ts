import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { tempDirectory } from './temp-directory.js';

const root = join(import.meta.dirname, '..');

/** Builds the program when it is out of date; call it in `beforeAll`. */
export function buildProgram(): void {
  execFileSync(process.execPath, [join(root, 'scripts/setup.mjs')], { stdio: 'ignore' });
}

export interface ProgramOptions {
  cwd?: string;
  home?: string;
  /** `undefined` leaves stdin open and silent. */
  input?: string | undefined;
  env?: Record<string, string>;
  onStart?: (child: ChildProcess) => void;
  onOutput?: (stdout: string, child: ChildProcess) => void;
}

export interface ProgramResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The real program in a process of its own, with a home of its own. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const home = options.home ?? tempDirectory();
  const child = spawn(process.execPath, [join(root, 'packages/cli/dist/main.cjs'), ...args], {
    cwd: options.cwd ?? home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...options.env },
  });
  options.onStart?.(child);
  // Some commands end before they read anything.
  child.stdin.on('error', () => undefined);
  if (!('input' in options) || options.input !== undefined) child.stdin.end(options.input ?? '');
  const result = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    result.stdout += data;
    options.onOutput?.(result.stdout, child);
  });
  child.stderr.on('data', (data) => (result.stderr += data));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...result })));
}

/** Variables that make the program talk to a scripted server in one of the wire formats. */
export function modelVariables(format: 'openai' | 'anthropic' | 'gemini', url: string): Record<string, string> {
  switch (format) {
    case 'openai':
      return { OPENAI_API_KEY: 'sk-test-0123456789abcdef', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'scripted' };
    case 'anthropic':
      return {
        ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef',
        ANTHROPIC_BASE_URL: `${url}/v1`,
        ANTHROPIC_MODEL: 'scripted',
      };
    case 'gemini':
      return {
        GEMINI_API_KEY: 'AIza0123456789abcdefghijklmnopqrstuv',
        GEMINI_BASE_URL: `${url}/v1beta`,
        GEMINI_MODEL: 'scripted',
      };
  }
}
