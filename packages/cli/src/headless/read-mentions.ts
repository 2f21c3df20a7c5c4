import { type AgentLathe } from '@lathe/agent';
import { type PartUnion, toParts } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';
import { runOne } from '../startup/open-lathe.js';

/**
 * Reads what the prompt mentions: files as `@path`, under the same rules as any call, and resources as `@server:uri`. What
 * is missing is reported for the text that a person typed: other text has an `@` for many reasons.
 */
export async function readMentions(
  prompt: string,
  lathe: AgentLathe,
  io: Io,
  signal: AbortSignal,
  typed = prompt,
): Promise<PartUnion[]> {
  if (!prompt.includes('@')) return [];
  const { mentionedResources } = await import('../mentions/mentioned-resources.js');
  const { parts, problems } = await mentionedResources(prompt, lathe, signal);
  for (const problem of problems) io.err(`lathe: ${visibleText(problem)}`);
  return [...(await mentionedFiles(prompt, lathe, io, signal, typed)), ...parts];
}

async function mentionedFiles(
  prompt: string,
  lathe: AgentLathe,
  io: Io,
  signal: AbortSignal,
  typed: string,
): Promise<PartUnion[]> {
  const { describeMissing, mentionedPaths } = await import('../mentions/mentioned-paths.js');
  const { patterns: paths } = await mentionedPaths(prompt, lathe.workspace);
  const { missing } = await mentionedPaths(typed, lathe.workspace);
  const servers = lathe.sources.servers.map(({ client }) => client.serverName);
  const problem = describeMissing(missing, servers);
  if (problem !== undefined) io.err(`lathe: ${visibleText(problem)}`);
  if (paths.length === 0) return [];
  const outcome = await runOne(lathe, { id: 'mentions', name: 'read_many_files', args: { paths } }, io, signal);
  if (outcome.status === 'success')
    return ['\n\nContent of the files mentioned above:\n', ...toParts(outcome.llmContent)];
  io.err(`lathe: ${visibleText(outcome.error?.message ?? 'could not read the mentioned files')}`);
  return [];
}
