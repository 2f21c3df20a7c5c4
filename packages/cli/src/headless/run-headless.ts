import type { AgentEvent, AgentLathe, Session } from '@lathe/agent';
import { type Approver, denyAll, type PartListUnion } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { isToolQuestion } from '../drivers/approval-answers.js';
import { ignoredSettings } from '../startup/open-lathe.js';
import { withSession } from '../startup/with-session.js';
import { JsonAnswer } from './json-answer.js';
import { JsonOutput } from './json-output.js';
import type { Denial, Outcome, Output, RunInfo } from './output.js';
import { readMentions } from './read-mentions.js';
import { readPrompt } from './read-prompt.js';
import { TextOutput } from './text-output.js';

/** `lathe -p` runs one task without a person and returns the exit code. Calls that need approval are denied. */
export async function runHeadless(
  words: readonly string[],
  flags: Flags,
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  const jsonAnswer = flags.jsonSchema === undefined ? undefined : JsonAnswer.read(flags.jsonSchema, io.cwd);
  const { output, close } = openOutput(flags, io);
  const startedAt = performance.now();
  const outcome = await start(words, { output, jsonAnswer, flags, io }, signal).catch((error: unknown) => {
    // An interrupt before the agent has started is reported like any other.
    if (!signal.aborted) throw error;
    return emptyOutcome('aborted', 'Interrupted.', startedAt);
  });
  output.end(outcome);
  close();
  await io.flush();
  return exitCode(outcome);
}

async function start(
  words: readonly string[],
  task: Omit<Task, 'prompt' | 'typed'>,
  signal: AbortSignal,
): Promise<Finished> {
  const { flags, io } = task;
  const prompt = await readPrompt(words, io, signal);
  signal.throwIfAborted();
  const startedAt = performance.now();
  const callApprover = countingApprover();
  return withSession({ flags, io, callApprover }, signal, async (session, lathe) => {
    if (typeof session === 'string') return emptyOutcome('no-model', session, startedAt);
    const ended = await work(session, lathe, { ...task, prompt, typed: words.join(' ') }, signal);
    return { ...ended, neededApproval: callApprover.count > 0 };
  });
}

/** `neededApproval`: a call would have needed a person. */
export type Finished = Outcome & { neededApproval?: boolean };

function emptyOutcome(reason: Outcome['reason'], message: string, startedAt: number): Finished {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const durationMs = Math.round(performance.now() - startedAt);
  return { reason, text: '', message, turns: 0, usage, durationMs, modelMs: 0, denials: [] };
}

interface Task {
  output: Output;
  prompt: string;
  /** The part of the prompt from the command line. */
  typed: string;
  jsonAnswer: JsonAnswer | undefined;
  flags: Flags;
  io: Io;
}

async function work(session: Session, lathe: AgentLathe, task: Task, signal: AbortSignal): Promise<Outcome> {
  const { output, prompt, typed, jsonAnswer, io } = task;
  output.begin(runInfo(lathe, session, io));
  const denials: Denial[] = [];
  const follow = (parts: PartListUnion) => followPrompt(session, parts, { output, denials, io }, signal);
  const files = await readMentions(prompt, lathe, io, signal, typed);
  const first = await follow([prompt, ...files, ...(jsonAnswer ? [`\n\n${jsonAnswer.instruction}`] : [])]);
  const outcome = jsonAnswer && first.reason === 'done' ? await checkAnswer(first, jsonAnswer, follow) : first;
  return { ...outcome, denials };
}

type Ended = Omit<Outcome, 'denials'>;

export async function followPrompt(
  session: Session,
  parts: PartListUnion,
  { output, denials, io }: { output: Output; denials: Denial[]; io: Io },
  signal: AbortSignal,
): Promise<Ended> {
  const inputs = new Map<string, unknown>();
  let end: Ended | undefined;
  for await (const event of session.prompt(parts, signal)) {
    collectDenial(event, inputs, denials);
    output.event(event);
    if (event.type === 'prompt-end') end = event.end;
    await io.flush();
  }
  if (!end) throw new Error('the agent sent no prompt-end event');
  return end;
}

function collectDenial(event: AgentEvent, inputs: Map<string, unknown>, denials: Denial[]): void {
  if (event.type === 'subagent-event') return collectDenial(event.event, inputs, denials);
  if (event.type === 'call-update') inputs.set(event.callId, event.args);
  if (event.type !== 'call-end') return;
  const { callId, name, error } = event.outcome;
  if (error?.type === 'execution_denied')
    denials.push({ tool_name: name, tool_use_id: callId, tool_input: inputs.get(callId) });
  inputs.delete(callId);
}

/** Asks once more if the answer does not match the schema. */
async function checkAnswer(
  first: Ended,
  jsonAnswer: JsonAnswer,
  follow: (text: string) => Promise<Ended>,
): Promise<Ended> {
  const answer = jsonAnswer.check(first.text);
  if ('value' in answer) return { ...first, value: answer.value };
  const second = await follow(jsonAnswer.correction(answer.problem));
  const { cost: _, ...rest } = second;
  const both = {
    ...rest,
    turns: first.turns + second.turns,
    durationMs: first.durationMs + second.durationMs,
    modelMs: first.modelMs + second.modelMs,
    ...(first.cost !== undefined && second.cost !== undefined && { cost: first.cost + second.cost }),
    usage: {
      inputTokens: first.usage.inputTokens + second.usage.inputTokens,
      outputTokens: first.usage.outputTokens + second.usage.outputTokens,
      cachedInputTokens: first.usage.cachedInputTokens + second.usage.cachedInputTokens,
      cacheWriteTokens: (first.usage.cacheWriteTokens ?? 0) + (second.usage.cacheWriteTokens ?? 0),
      reasoningTokens: first.usage.reasoningTokens + second.usage.reasoningTokens,
    },
  };
  if (second.reason !== 'done') return both;
  const again = jsonAnswer.check(second.text);
  if ('value' in again) return { ...both, value: again.value };
  return { ...both, reason: 'bad-answer', message: `The answer does not match the schema: ${again.problem}` };
}

/** Denies every request and counts them for the exit code. A tool's question is none: the tool can do without an answer. */
export function countingApprover(): Approver & { count: number } {
  const approver = {
    count: 0,
    decide: (request, signal) => {
      if (!isToolQuestion(request)) approver.count += 1;
      return denyAll.decide(request, signal);
    },
  } satisfies Approver & { count: number };
  return approver;
}

export function runInfo(
  lathe: Pick<AgentLathe, 'tools' | 'workspace' | 'policy' | 'loaded'>,
  { id, model }: Session,
  io: Io,
): RunInfo {
  const entries = lathe.tools.entries();
  return {
    sessionId: id,
    cwd: lathe.workspace.root,
    tools: entries.map(({ tool }) => tool.name),
    mcpServers: [...new Set(entries.flatMap(({ source }) => (source.startsWith('mcp:') ? [source.slice(4)] : [])))].map(
      (name) => ({ name, status: 'connected' }),
    ),
    model: model.id,
    permissionMode: lathe.policy.mode,
    version: io.version,
    ignoredSettings: ignoredSettings(lathe),
  };
}

function openOutput(flags: Flags, io: Io): { output: Output; close: () => void } {
  const format = flags.outputFormat ?? 'text';
  if (format === 'text') return { output: new TextOutput(io), close: () => {} };
  const isPartial = flags.includePartialMessages;
  if (format === 'stream-json') {
    const output = new JsonOutput((message) => io.out(JSON.stringify(message)), { isPartial });
    return { output, close: () => {} };
  }
  const messages: object[] = [];
  const output = new JsonOutput((message) => messages.push(message), { isPartial: false });
  return { output, close: () => io.out(JSON.stringify(messages)) };
}

export function exitCode({ reason, neededApproval }: Finished): number {
  if (reason === 'aborted') return exitCodes.interrupted;
  if (reason !== 'done') return exitCodes.failure;
  return neededApproval ? exitCodes.denied : exitCodes.success;
}
