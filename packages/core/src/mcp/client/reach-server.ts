import type { ContainedProgram, ProgramRequest } from '../../process/run/contained-program.js';
import type { CommandRunner } from '../../process/run/run-command.js';
import type { Endpoint } from './server-definition.js';

/** What servers that are started here run with. */
export interface ProgramOptions {
  runner: Pick<CommandRunner, 'startProgram'>;
  /** All variables of a server, without its own. */
  env: Readonly<Record<string, string>>;
  /** What puts a sandbox around a server, when the person wants one. */
  sandbox?: (cwd: string) => Promise<ProgramRequest['wrap']>;
}

/** A server that can be spoken to: it is started whenever `start` is called, or is somewhere on the web. */
export type Reachable =
  | { type: 'stdio'; start: () => Promise<ContainedProgram> }
  | Exclude<Endpoint, { type: 'stdio' }>;

/** Starts the server at once, if it is one of those; the first call of `start` gets that one. */
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
