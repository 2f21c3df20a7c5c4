import { resolve } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { confirmReading, judgedPath, judgePath, pathTarget } from '../files/access/judged-paths.js';
import { toBytePath } from '../files/byte-path.js';
import { codeOf } from '../files/fs-error.js';
import { outermost, searchPlace } from '../files/search/search-place.js';
import type { WalkNotes } from '../files/search/walk-notes.js';
import type { Location, Workspace } from '../files/workspace.js';
import { BaseTool, type ToolIdentity } from './tools.js';

/** A place to search. */
interface OpenPlace {
  /** As it was asked for. */
  wanted: string;
  /** Where that really leads. */
  path: string;
  kind: 'file' | 'directory';
}

/** A tool that searches places: permission rules see them, and those outside the workspace are asked about. */
export abstract class SearchTool<P extends { path?: string }> extends BaseTool<P> {
  protected readonly workspace: Workspace;

  constructor(identity: ToolIdentity, workspace: Workspace) {
    super(identity);
    this.workspace = workspace;
  }

  override async getTargets(params: P, call = directCall()) {
    return (await this.#judge(params, call)).map((place) => pathTarget(place, 'read'));
  }

  override async shouldConfirmExecute(params: P, _signal?: AbortSignal, call = directCall()) {
    return confirmReading(this.name, await this.#judge(params, call));
  }

  /** Where to search: the place named, seen from the one the agent was started in, or all of the workspace. */
  protected places({ path }: P): string[] {
    return path === undefined ? outermost(this.workspace.roots) : [resolve(this.workspace.root, path)];
  }

  /** The places as they were judged. A further directory of the workspace may be missing, which is noted. */
  protected async open(params: P, notes: WalkNotes, call: ToolCall): Promise<OpenPlace[]> {
    const opened: OpenPlace[] = [];
    for (const wanted of this.places(params)) {
      const { path } = await judgedPath(this.workspace, call, wanted);
      try {
        opened.push({ wanted, path, kind: await searchPlace(path) });
      } catch (error) {
        const isExtra = params.path === undefined && this.workspace.roots.indexOf(wanted) > 0;
        if (!isExtra || !(error instanceof ToolError)) throw error;
        notes.add('directories of the workspace not searched', toBytePath(path), codeOf(error.cause));
      }
    }
    return opened;
  }

  #judge(params: P, call: ToolCall): Promise<Location[]> {
    return Promise.all(this.places(params).map((path) => judgePath(this.workspace, call, path)));
  }
}
