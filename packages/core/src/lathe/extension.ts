import type { LatheHome } from '../files/lathe-home.js';
import type { Workspace } from '../files/workspace.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { TaskRunner } from '../tools/task.js';
import type { Answerer } from '../tools/web-fetch.js';

/** What is open before the tools are made. */
export interface OpenedParts {
  workspace: Workspace;
  loaded: LoadedSettings;
  home: LatheHome;
  /** The person's home directory. */
  userHome: string;
}

/** What a program that drives the tools with a model adds to them. */
export interface Extension {
  /** Runs the tasks of `task`; without it there is no such tool. */
  tasks?: TaskRunner;
  /** Answers questions about the pages that `web_fetch` reads. */
  answerer?: Answerer;
  /** What is wrong with what the program has read, for people. */
  problems?: readonly string[];
}
