import { resolve } from 'node:path';
import type { AgentEvent, AgentLathe } from '@lathe/agent';
import { type PartUnion, toParts } from '@lathe/core';
import { ruleForFile } from '@lathe/core/host';
import { describeMissing, mentionedPaths } from '../mentions/mentioned-paths.js';
import { runCalls } from './run-calls.js';

/** Reads the files and folders that a prompt mentions. `isTyped`: by a person, and not by a program that passes on text. */
export async function* readMentioned(
  input: string,
  lathe: AgentLathe,
  signal: AbortSignal,
  { isTyped = true } = {},
): AsyncGenerator<AgentEvent, PartUnion[]> {
  const { patterns: paths, files, missing } = await mentionedPaths(input, lathe.workspace);
  const servers = lathe.sources.servers.map(({ client }) => client.serverName);
  const message = describeMissing(missing, servers);
  if (message !== undefined) yield { type: 'notice', level: 'warning', message };
  if (paths.length === 0) return [];
  if (isTyped) await allowReading(files, lathe);
  const [outcome] = yield* runCalls(lathe, [{ name: 'read_many_files', args: { paths } }], signal);
  if (outcome?.status !== 'success') return [];
  return ['\n\nContent of the files mentioned above:\n', ...toParts(outcome.llmContent)];
}

/**
 * Naming a file answers the question about it, now and when the model reads it later in the session. Two doubts at once,
 * a file with keys in another place, still ask, and so do secrets, which no rule can allow.
 */
async function allowReading(files: readonly string[], { workspace, policy }: AgentLathe): Promise<void> {
  const places = await Promise.all(files.map((file) => workspace.locate(resolve(workspace.root, file))));
  const named = places.filter(({ inside, sensitive }) => inside === (sensitive !== undefined));
  const rules = named.map(({ path }) => ruleForFile(path));
  const both = rules.flatMap((rule) => [rule, rule.replace(/^read_file/, 'read_many_files')]);
  const known = policy.rules().allow;
  const added = both.filter((rule) => !known.includes(rule));
  if (added.length > 0) await policy.grant(added, 'session');
}
