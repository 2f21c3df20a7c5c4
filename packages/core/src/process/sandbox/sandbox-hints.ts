import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOrdinary } from '../../files/access/home-places.js';
import { isWithin } from '../../files/workspace.js';
import type { CommandResult } from '../run/running-command.js';
import { nameRights, type Right, type SandboxRights } from './sandbox-rights.js';
import { isTemporary } from './session-directory.js';
import { isElsewhere } from './visible-files.js';

export interface HintOptions {
  rights: SandboxRights;
  /** The rights that the call asked for. */
  asked: readonly Right[];
  /** The home directory. */
  home: string;
  /** Real paths that the command was to read. */
  reads: readonly string[];
  /** Whether the sandbox keeps a path out of sight unless a right opens it. */
  hides(path: string): boolean;
}

export interface SandboxHint {
  model: string;
  person: string;
}

/**
 * What the sandbox may have kept from a command, in a sentence; `undefined` if there is no sign of it. A
 * guess from the output, good for a hint only: output never gives a right, a person does.
 */
export function sandboxHint({ ending, output }: CommandResult, options: HintOptions): SandboxHint | undefined {
  const { rights, reads, home, asked } = options;
  const isHomeOpen = rights.files || rights.secrets;
  if (!isHomeOpen && !rights.home && reads.some((path) => isWithin(path, home)))
    return both(
      'In the sandbox the home directory holds only toolchains and the workspace; list_directory shows it all.',
    );
  if (ending.type === 'exit' && ending.code === 0) return undefined;
  const text = output.text();
  const missing = missingPaths(text);
  const temporary = missing.find((path) => isTemporary(path) && existsSync(path));
  if (temporary !== undefined)
    return both(`In the sandbox /tmp is this session's own. read_file reads ${temporary} of the machine.`);
  // What is missing in the home directory is mostly missing indeed; elsewhere it may be something to write.
  const couldBe = (path: string) => existsSync(path) || (!isWithin(home, path) && existsSync(dirname(path)));
  const hidden = isHomeOpen ? undefined : missing.find((path) => options.hides(path) && couldBe(path));
  const right = hidden === undefined ? missingRight(text, rights) : rightFor(hidden, home);
  if (right === undefined) return !rights.network && refusedLocally.test(text) ? refusedHint : undefined;
  const list = JSON.stringify([...new Set([...asked, right])]);
  return {
    model: `It ran in a sandbox, which may have stopped it. If so, send the call again with rights: ${list}; the user will be asked.`,
    person: `The sandbox may have stopped it: commands do not get ${nameRights([right])}.`,
  };
}

const refusedHint: SandboxHint = {
  model:
    'In the sandbox localhost reaches background commands of this session only, not services of the machine. For those, send the call again with rights: ["network"]; the user will be asked.',
  person: 'In the sandbox localhost reaches background commands of this session only, not services of the machine.',
};

const both = (text: string): SandboxHint => ({ model: text, person: text });

/** A path that does not exist was to be written. */
function rightFor(path: string, home: string): Right {
  if (!existsSync(path)) return 'files';
  return isOrdinary(home, path) || (!isWithin(home, path) && isElsewhere(path)) ? 'home' : 'secrets';
}

function missingRight(text: string, rights: SandboxRights): Right | undefined {
  if (!rights.workspace && readOnlyFailures.test(text)) return 'workspace';
  if (!rights.files && readOnlyFailures.test(text)) return 'files';
  if (!rights.network && networkFailures.test(text)) return 'network';
  return !rights.secrets && credentialFailures.test(text) ? 'secrets' : undefined;
}

/** Absolute paths in lines that say that something does not exist. */
function missingPaths(text: string): string[] {
  const lines = text.split('\n').filter((line) => notFound.test(line));
  return lines.slice(0, 50).flatMap((line) => line.match(/(?<![\w.])\/[^\s'"`:;,()[\]]+/g) ?? []);
}

const notFound = /no such file|not found|does not exist|\bENOENT\b|cannot (?:find|open|access)|can't open/i;

/** Node reports a directory that cannot be created in a read-only one as missing. */
const readOnlyFailures = /read-only file system|\bEROFS\b|\bENOENT\b.*, mkdir '/i;

const networkFailures =
  /could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|nodename nor servname|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b|failed to lookup address|no route to host/i;

const refusedLocally = /\bECONNREFUSED\b|connection refused|could(?:n't| not) connect to server/i;

const credentialFailures =
  /permission denied \(publickey|could not read (?:username|password)|host key verification failed|authentication (?:failed|required)|unable to locate credentials|not logged in|ENEEDAUTH|signing failed/i;
