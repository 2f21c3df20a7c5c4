import type { ContainedProgram, ProgramRequest } from '../../process/run/contained-program.js';
import type { CommandRunner } from '../../process/run/run-command.js';
import type { Endpoint } from './server-definition.js';

/** How local servers are started. */
export interface ProgramOptions {
  runner: Pick<CommandRunner, 'startProgram'>;
  /** The environment of every server, before its own variables are added. */
  env: Readonly<Record<string, string>>;
  /** Returns the sandbox of a server, if the user wants one. */
  sandbox?: (cwd: string) => Promise<ProgramRequest['wrap']>;
}

/** A server that can be connected to: a program that `start` starts, or a URL. */
export type Reachable =
  | { type: 'stdio'; start: () => Promise<ContainedProgram> }
  | Exclude<Endpoint, { type: 'stdio' }>;

/** Starts a local server at once; the first call of `start` returns that process. */
export async function reachServer(endpoint: Endpoint, { runner, env, sandbox }: ProgramOptions): Promise<Reachable> {
  if (endpoint.type !== 'stdio') return endpoint;
  const { argv, cwd, env: own } = endpoint;
  const start = async () => {
    const wrap = await sandbox?.(cwd);
    return runner.startProgram({ argv, cwd, env: { ...env, ...own }, ...(wrap && { wrap }) });
  };
  let ahead: ContainedProgram | undefined = await start();
  return {
    type: 'stdio',
    start: async () => {
      const program = ahead ?? (await start());
      ahead = undefined;
      return program;
    },
  };
}
