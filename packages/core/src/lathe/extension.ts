import type { LatheHome } from '../files/lathe-home.js';
import type { SpillStore } from '../files/spill.js';
import type { Workspace } from '../files/workspace.js';
import type { InstalledPlugin } from '../plugins/installed-plugins.js';
import type { ConsentGate, ConsentRequest } from '../scheduler/ask-consent.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { TaskRunner } from '../tools/task.js';
import type { ToolSource } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';
import type { Answerer } from '../tools/web-fetch.js';

/** What is open before the tools are made. */
export interface OpenedParts {
  workspace: Workspace;
  /** The folder that agreements belong to: the workspace or, in a worktree, the one it is a copy of. */
  project: string;
  loaded: LoadedSettings;
  home: LatheHome;
  /** The person's home directory. */
  userHome: string;
  /** Installed, unchanged and not turned off. */
  plugins: readonly InstalledPlugin[];
  /** Keeps text that is too long for the model. */
  spill: Pick<SpillStore, 'write'>;
}

/** A source of tools that a person has to agree to. */
export interface ConsentedSource extends ToolSource {
  consentRequests(): ConsentRequest[];
}

/** What a program that drives the tools with a model adds to them. */
export interface Extension {
  /** Runs the tasks of `task`; without it there is no such tool. */
  tasks?: TaskRunner;
  /** More built-in tools, declared after the others. */
  tools?: readonly AnyTool[];
  /** Answers questions about the pages that `web_fetch` reads. */
  answerer?: Answerer;
  /** More sources of tools. Without a gate nothing has to be agreed to in this run. */
  openSources?: (options: { gate: ConsentGate | undefined }) => readonly ConsentedSource[];
  /** What is wrong with what the program has read, for people. */
  problems?: readonly string[];
}
