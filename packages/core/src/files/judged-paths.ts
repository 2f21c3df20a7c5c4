import { ToolError } from '../errors.js';
import type { Location, Workspace } from './workspace.js';

/**
 * Where the paths of a call led when the call was judged. The call then touches exactly those places: a link that
 * is turned between the question and the answer changes nothing. A call is known by its parameters object.
 */
export class JudgedPaths {
  readonly #workspace: Workspace;
  readonly #judged = new WeakMap<object, Map<string, Location>>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** For `getTargets` and `shouldConfirmExecute`: where `path` leads. The first answer is kept for the whole call. */
  async judge(call: object, path: string): Promise<Location> {
    const known = this.#judged.get(call) ?? new Map<string, Location>();
    this.#judged.set(call, known);
    const location = known.get(path) ?? (await this.#workspace.locate(path));
    if (!known.has(path)) known.set(path, location);
    return location;
  }

  /** For `execute`: the judged place, or, when nobody judged this call, a place that needs no question. */
  async recall(call: object, path: string, access: 'read' | 'write' = 'read'): Promise<Location> {
    const judged = this.#judged.get(call)?.get(path);
    if (judged !== undefined) return judged;
    const location = await this.#workspace.locate(path);
    const isFree = access === 'read' ? location.inside || location.readable === true : isOpenForWriting(location);
    if (isFree && location.secret === undefined) return location;
    const verb = access === 'read' ? 'read' : 'written';
    throw new ToolError('path_not_in_workspace', `${location.path} needs approval before it can be ${verb}.`);
  }
}

function isOpenForWriting({ inside, guarded }: Location): boolean {
  return inside && guarded === undefined;
}
