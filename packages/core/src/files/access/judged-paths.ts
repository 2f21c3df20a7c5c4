import { isAbsolute, resolve } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { CallSlot, type ToolCall } from '../../contract/tool-call.js';
import type { Location, Workspace } from '../workspace.js';

/** Where the paths of a call led when it was judged. */
const judged = new CallSlot<Map<string, Location>>();

/**
 * For the steps before a call runs: where `path` leads. The first answer applies to the whole call, so that the call
 * touches exactly the place that was judged, even if a symlink changes between the question and the answer.
 */
export async function judgePath(workspace: Workspace, call: ToolCall, path: string): Promise<Location> {
  const known = judged.get(call) ?? new Map<string, Location>();
  judged.set(call, known);
  const location = known.get(path) ?? (await workspace.locate(workspace.outsideSandbox(path)));
  if (!known.has(path)) known.set(path, location);
  return location;
}

/** For `execute`: the judged place or, for a call that was not judged, a place that needs no approval. */
export async function judgedPath(
  workspace: Workspace,
  call: ToolCall,
  path: string,
  access: 'read' | 'write' = 'read',
): Promise<Location> {
  const location = judged.get(call)?.get(path);
  if (location !== undefined) return location;
  const found = await workspace.locate(workspace.outsideSandbox(path));
  const { inside, readable, guarded } = found;
  const isFree = access === 'read' ? inside || readable === true : inside && guarded === undefined;
  if (isFree && found.secret === undefined && (access === 'write' || found.sensitive === undefined)) return found;
  const verb = access === 'read' ? 'read' : 'written';
  throw new ToolError('path_not_in_workspace', `${found.path} needs approval before it can be ${verb}.`);
}

/** How touching `location` looks to permission rules: the path member of `Target`. */
export function pathTarget(location: Location, access: 'read' | 'write') {
  const guarded = access === 'write' ? (location.guarded ?? location.secret) : location.secret;
  const isFree = access === 'read' && (location.inside || location.readable === true);
  return {
    type: 'path' as const,
    access,
    path: location.path,
    ...(location.alias !== undefined && { alias: location.alias }),
    asks: guarded !== undefined || !isFree,
    ...(access === 'write' && { isInside: location.inside }),
    ...(guarded !== undefined && { guarded }),
    ...(access === 'read' && location.sensitive !== undefined && { sensitive: location.sensitive }),
  };
}

/** The rule that lets a file be read, and nothing else: what "always" saves for a file that may hold keys. */
export const ruleForFile = (path: string): string => `read_file(/${escapeGlob(path)})`;

/** The question to a person before `tool` reads these places; `false` when none of them needs one. */
export function confirmReading(tool: string, locations: readonly Location[]) {
  const asking = locations.filter((location) => {
    const { asks, sensitive } = pathTarget(location, 'read');
    return asks || sensitive !== undefined;
  });
  if (asking.length === 0) return false;
  const secrets = asking.flatMap(({ secret }) => secret ?? []);
  const warnings = [...secrets, ...asking.flatMap(({ sensitive }) => sensitive ?? [])];
  const rules = asking.map(({ path, sensitive }) =>
    sensitive === undefined ? `${tool}(/${escapeGlob(path)})` : ruleForFile(path),
  );
  return {
    type: 'info' as const,
    title: warnings.length === 0 ? 'Read outside the workspace?' : 'Read a secret?',
    prompt: asking.map(({ path }) => path).join('\n'),
    ...(secrets.length === 0 && { rules }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}!\\]| $/g, '\\$&');
}

const shownChars = 200;

/** Says that a parameter is not an absolute path, and which path was probably meant. `null` if it is one. */
export function absolutePathProblem(parameter: string, path: string, { root }: Pick<Workspace, 'root'>): string | null {
  if (isAbsolute(path)) return null;
  const problem = `${parameter} must be an absolute path, not ${JSON.stringify(path.slice(0, shownChars))}`;
  // Not for `~`, which a shell replaces, and not for an address.
  const isClear = path !== '' && path.length <= shownChars && !/^(?:~|\w+:)/.test(path);
  return isClear ? `${problem}; did you mean ${JSON.stringify(resolve(root, path))}?` : problem;
}
