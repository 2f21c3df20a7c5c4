import { dirname } from 'node:path';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import type { Location, Workspace } from '../files/workspace.js';
import { type BackgroundAction, wordsOf } from '../process/run/background-command.js';
import type { CommandAnalysis } from '../process/shell/command-analysis.js';

/** What a command touches, as permission rules see it. */
export async function targetsOf(analysis: CommandAnalysis, workspace: Workspace): Promise<Target[]> {
  const commands = analysis.segments.map(({ words, isReadOnly, hidden }): Target => {
    return { type: 'command', words, asks: !isReadOnly, ...(hidden && { hidden }) };
  });
  const reads = analysis.reads.map(async (read): Promise<Target> => {
    const { path, inside, readable, secret } = await locate(read, workspace);
    const isTree = analysis.searches.includes(read);
    const target = { type: 'path', access: 'read', path, asks: !inside && !readable } as const;
    return { ...target, ...(isTree && { isTree }), ...(secret && { guarded: secret }) };
  });
  const writes = analysis.writes.map(async (write): Promise<Target> => {
    const { path, inside, guarded } = await locate(write, workspace);
    const asks = !inside || analysis.redirections.includes(write);
    return { type: 'path', access: 'write', path, asks, isInside: inside, ...(guarded && { guarded }) };
  });
  const hosts = analysis.hosts.map((host): Target => ({ type: 'host', host, asks: false }));
  const targets = [...commands, ...(await Promise.all([...reads, ...writes])), ...hosts];
  const isSilent = !analysis.isReadOnly && !targets.some(({ asks }) => asks);
  return isSilent ? [...targets, unnamed(analysis.rootCommand)] : targets;
}

/** Below a file there is nothing, so that `b/a`, a guess for `cp a b`, is judged as `b`. */
async function locate(path: string, workspace: Workspace): Promise<Location> {
  try {
    return await workspace.locate(path);
  } catch (error) {
    if (!(error instanceof ToolError) || error.type !== 'file_not_found') throw error;
    return locate(dirname(path), workspace);
  }
}

export const needsAnswer = ({ asks, guarded }: Target): boolean => asks || guarded !== undefined;

/** Something no rule can name, so that a person has to answer. */
export function unnamed(command: string): Target {
  return { type: 'command', words: [command], asks: true, hidden: true };
}

/** Input for an approved program can make it do anything, so it is asked for like a command. */
export function orderTarget(order: BackgroundAction): Target {
  return { type: 'command', words: wordsOf(order), asks: order.action === 'send' };
}
