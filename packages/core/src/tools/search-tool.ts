import { resolve } from 'node:path';
import { JudgedPaths } from '../files/judged-paths.js';
import { confirmReading, pathTarget } from '../files/path-target.js';
import { outermost } from '../files/search-place.js';
import type { Location, Workspace } from '../files/workspace.js';
import { BaseTool, type ToolIdentity } from './tools.js';

/** A tool that searches places: permission rules see them, and those outside the workspace are asked about. */
export abstract class SearchTool<P extends { path?: string }> extends BaseTool<P> {
  protected readonly workspace: Workspace;
  protected readonly judged: JudgedPaths;

  constructor(identity: ToolIdentity, workspace: Workspace) {
    super(identity);
    this.workspace = workspace;
    this.judged = new JudgedPaths(workspace);
  }

  override async getTargets(params: P) {
    return (await this.#judge(params)).map((place) => pathTarget(place, 'read'));
  }

  override async shouldConfirmExecute(params: P) {
    return confirmReading(this.name, await this.#judge(params));
  }

  /** Where to search: the place named, seen from the one the agent was started in, or all of the workspace. */
  protected places({ path }: P): string[] {
    return path === undefined ? outermost(this.workspace.roots) : [resolve(this.workspace.root, path)];
  }

  #judge(params: P): Promise<Location[]> {
    return Promise.all(this.places(params).map((path) => this.judged.judge(params, path)));
  }
}
