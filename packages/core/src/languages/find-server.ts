import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { readSmallFile } from '../files/small-file.js';
import { isWithin } from '../files/workspace.js';
import { executableAt } from '../process/run/trusted-path.js';
import { parseJson } from '../text/parse-json.js';
import type { Language, ServerProgram } from './known-languages.js';
import { field } from './protocol.js';

/** A server that can be started. */
export interface FoundServer {
  argv: readonly string[];
  /** The folder it is installed in, which it must be able to read. */
  installedIn: string;
  writes: boolean;
}

/** Where servers are looked for. */
export interface ServerPlaces {
  /** The folders of the workspace. */
  roots: readonly string[];
  /** Directories outside the workspace, separated as in `PATH`. */
  path: string;
  /** The user trusts the folder, so that its programs, and programs that run its code, may start. */
  isTrusted: boolean;
  /** A sandbox holds what servers do, or everything is allowed. */
  isContained: () => boolean;
}

export type ServerSearch = { found: FoundServer } | { missing: string };

/**
 * The first server of a language that is installed: in the project, above `file`, then on `PATH`. In a folder that nobody
 * trusts only servers outside it count, and only those that run nothing of the project. Without a sandbox the same holds
 * for servers that nobody chose: an agent that may edit files would decide what they run.
 */
export function findServer({ name, servers }: Language, file: string, places: ServerPlaces): ServerSearch {
  let isRefused = false;
  for (const server of servers)
    for (const candidate of candidatesFor(server.program, file, places)) {
      const real = executableAt(candidate);
      if (real === undefined || !isServer(server, real)) continue;
      const isProjects = places.roots.some((root) => isWithin(root, candidate) || isWithin(root, real));
      const isSafe = !isProjects && (server.onlyReads || (places.isTrusted && server.isChosen));
      if (isSafe || (places.isTrusted && places.isContained())) {
        const argv = [candidate, ...(server.args ?? [])];
        return { found: { argv, installedIn: installationOf(real), writes: server.writes === true } };
      }
      isRefused = true;
    }
  if (isRefused) return { missing: refusal(places) };
  return { missing: `no server for ${name} is installed (${servers.map(({ program }) => program).join(', ')})` };
}

function refusal({ isTrusted }: ServerPlaces): string {
  return isTrusted
    ? 'it runs code of the project, so it is not started without a sandbox'
    : 'it is not started, because the folder is not trusted: run lathe trust';
}

function candidatesFor(program: string, file: string, { roots, path }: ServerPlaces): string[] {
  const root = roots.find((each) => isWithin(each, file)) ?? roots[0] ?? '/';
  if (program.includes('/')) return [resolve(root, program)];
  // A file that is itself a folder of the workspace stands for all of it.
  const names = file === root ? [] : relative(root, dirname(file)).split(sep);
  const folders = names.map((_, index) => join(root, ...names.slice(0, names.length - index)));
  const places = ['node_modules/.bin', '.venv/bin', 'venv/bin'];
  const directories = [...folders, root].flatMap((folder) => places.map((place) => join(folder, place)));
  return [...directories, ...path.split(delimiter).filter(Boolean)].map((directory) => join(directory, program));
}

/** `tsc` has been a language server only since TypeScript 7. */
function isServer({ since }: ServerProgram, real: string): boolean {
  if (since === undefined) return true;
  const described = parseJson(readSmallFile(join(dirname(dirname(real)), 'package.json')) ?? '');
  return described.ok && Number.parseInt(String(field(described.value, 'version')), 10) >= since;
}

/** For a package, the outermost `node_modules` around it, where its dependencies are. */
function installationOf(real: string): string {
  const at = real.indexOf('/node_modules/');
  return at === -1 ? dirname(real) : real.slice(0, at + '/node_modules'.length);
}
