import { constants } from 'node:os';
import { ToolError, type ToolErrorType } from '../../contract/errors.js';
import type { CommandResult, Ending } from './running-command.js';

export interface CommandReport {
  /** For the model. */
  text: string;
  /** For a person. */
  display: string;
  /** Present when the command did not do what it was run for. */
  failure?: ToolErrorType;
}

export interface ReportOptions {
  command: string;
  directory: string;
  /** The last simple command: its program decides which exit codes are answers. */
  lastWords: readonly string[];
  /** Another sentence about what went wrong. */
  remark?: { model: string; person: string };
}

/** Describes a command that has ended, for the model and for a person. */
export function reportOn(result: CommandResult, options: ReportOptions): CommandReport {
  const { ending } = result;
  const output = outputText(result);
  const findings = result.findings.map((finding) => `Warning: ${finding}`);
  const remarks = [...circumstances(result), ...findings, ...(options.remark ? [options.remark.model] : [])];
  const isNormal = isNormalExit(ending, options.lastWords);
  const shown = output.replace(forModels, ']');
  const how = isNormal && shown !== '' ? '' : describeEnding(ending);
  const display = [shown, how, ...findings, options.remark?.person].filter(Boolean).join('\n');
  if (ending.type === 'exit' || ending.type === 'signal') {
    const death = ending.type === 'signal' ? [`Killed by ${ending.signal}.`] : [];
    const text = labelledLines(result, options, [...death, ...remarks].join(' '), output);
    return isNormal ? { text, display } : { text, display, failure: 'shell_execute_error' };
  }
  const what = ending.type === 'abort' ? 'was cancelled while it ran' : describeEnding(ending);
  const soFar = output === '' ? 'It had printed nothing.' : `Output until then:\n${output}`;
  const failure = ending.type === 'timeout' ? 'execution_timeout' : 'execution_failed';
  return { text: [`Command ${what}.`, ...remarks, soFar].join(' '), display, failure };
}

export function describeEnding(ending: Ending): string {
  switch (ending.type) {
    case 'abort':
      return 'cancelled';
    case 'timeout':
      return `timed out after ${ending.ms} ms`;
    case 'unprotected':
      return `was ended by the sandbox, which can no longer protect ${ending.path}: another program replaced or removed this file meanwhile`;
    case 'signal':
      return `killed by ${ending.signal}`;
    case 'exit':
      return ending.code === 0 ? '' : `exited with code ${ending.code}`;
  }
}

/** Labels and order are those of Qwen Code, which models know. */
function labelledLines(
  { ending, pid, leftBehind, survivors }: CommandResult,
  { command, directory }: ReportOptions,
  error: string,
  output: string,
): string {
  const lines: [label: string, value: string | number | undefined][] = [
    ['Command', shorten(command)],
    ['Directory', directory],
    ['Output', output || '(empty)'],
    ['Error', error || undefined],
    ['Exit Code', ending.type === 'exit' ? ending.code : undefined],
    ['Signal', ending.type === 'signal' ? constants.signals[ending.signal] : undefined],
    ['Background PIDs', [...leftBehind, ...survivors].slice(0, 20).join(', ') || undefined],
    ['Process Group PGID', pid],
  ];
  return lines.map(([label, value]) => `${label}: ${value ?? '(none)'}`).join('\n');
}

/** The output for the model, with the path of the full output if it was cut. */
function outputText({ output }: CommandResult): string {
  if (output.isBinary) return `[binary output, ${output.totalBytes} bytes, not shown]`;
  const text = output.text().trimEnd();
  if (output.path === undefined || !output.isCut) return text;
  const extent = output.isComplete ? 'Full output' : 'The first part of the output';
  return `${text}\n[${extent}: ${output.path}; search it with grep_search or read parts with read_file]`;
}

/** Advice that a person does not need. */
const forModels = /; search it with grep_search or read parts with read_file\]$/;

/** Sentences about what happened besides the output. */
function circumstances(result: CommandResult): string[] {
  const { leftBehind, survivors } = result;
  const sentences = [
    survivors.length > 0 && `Could not kill ${list(survivors)}.`,
    leftBehind.length > 0 &&
      `Ended with the command, though still running: ${list(leftBehind)}; use is_background for what should continue.`,
    needsInput(result),
  ];
  return sentences.filter((sentence) => typeof sentence === 'string');
}

/** Programs whose exit code 1 is an answer, not a failure. */
const answering = new Set(
  'grep egrep fgrep zgrep rg ag ack diff cmp comm test [ [[ pgrep which type command false'.split(' '),
);

/** Whether an exit code is the normal answer of the last program of a command. */
function isNormalExit(ending: Ending, lastWords: readonly string[]): boolean {
  if (ending.type !== 'exit') return false;
  if (ending.code !== 1) return ending.code === 0;
  const [program = '', ...args] = lastWords;
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (name !== 'git') return answering.has(name);
  return args.includes('grep') || args.includes('diff') || args.includes('check-ignore');
}

/** Throws if the sandbox could not start, so that the command never ran. */
export function refuseBrokenSandbox({ ending, output }: CommandResult): void {
  if (ending.type !== 'exit' || ending.code !== 1 || output.totalBytes > 1_000) return;
  const text = output.text().trim();
  if (/^(bwrap|nsenter|sandbox-exec): /.test(text))
    throw new ToolError('sandbox_unavailable', `The sandbox could not start, nothing was run: ${text}`);
}

const prompts =
  /(?:password|passphrase|passcode|username|login|\[y\/n\]|\(y\/n\)|\(yes\/no[^)]*\)|press (?:any key|enter)[^\n]*|continue\?|\? ?›?)[: ]*$/i;
const refusals =
  /terminal prompts disabled|a terminal is required|no tty present|not a tty|input is not from a terminal|cannot open \/dev\/tty|\/dev\/tty: no such device|inappropriate ioctl for device|host key verification failed|EOFError: EOF when reading a line/i;

/** Printed at the start by an editor that then waits forever. */
const editors = /^Vim: Warning: Input is not from a terminal/m;

/** Because stdin is closed, a program that asks a question waits, or gives up with a message like these. */
function needsInput({ ending, output }: CommandResult): string | undefined {
  if (ending.type === 'exit' && ending.code === 0) return undefined;
  const end = output.tailText(400);
  const isAsking = ending.type === 'timeout' && (prompts.test(end.trimEnd()) || editors.test(output.text()));
  if (!isAsking && !refusals.test(end)) return undefined;
  return 'It seems to have asked for input, which no command gets: use flags or files that answer its questions.';
}

function list(pids: readonly number[]): string {
  const shown = pids.slice(0, 10).join(', ');
  return `process${pids.length > 1 ? 'es' : ''} ${shown}${pids.length > 10 ? ` and ${pids.length - 10} more` : ''}`;
}

/** The model has just sent the command, so a long script is not repeated in full. */
function shorten(command: string): string {
  return command.length > 2_000 ? `${command.slice(0, 2_000)} [… ${command.length - 2_000} more characters]` : command;
}
