import { join } from 'node:path';
import { createLathe, type Lathe, type LatheHost, type LatheOptions } from '@lathe/core';
import { type Extension, type OpenedParts, personalFolders } from '@lathe/core/host';
import type { TaskRunner } from '@lathe/core/tools';
import { pluginFolders } from './definition-files.js';
import type { AgentTrace, AgentTraceOptions } from './loop/agent-trace.js';
import { pageAnswerer, type SideModels } from './page-answerer.js';
import { findSkills } from './skills/find-skills.js';
import { SkillSource, type SkillSourceOptions } from './skills/skill-source.js';
import { loadSubagents } from './subagents/subagent-files.js';
import { Subagents } from './subagents/subagents.js';
import { TaskControlTool } from './subagents/task-control.js';
import type { Worktree } from './worktrees/worktree.js';
import { removeLeftovers } from './worktrees/worktrees.js';

/** The tool system plus what needs a model: subagents for `task`, and answers about the pages of `web_fetch`. */
export interface AgentLathe extends Lathe, LatheHost {
  /** The subagents of this session. */
  readonly subagents: Subagents;
  /** The skills that can be loaded, once tools were looked for. */
  readonly skills: SkillSource;
  readonly sideModels: SideModels;
  /** The directory that sessions belong to: the workspace or, in a worktree, the one it is a copy of. */
  readonly project: string;
  /** Records the work of an agent, when a collector is set. */
  readonly openTrace: ((options: AgentTraceOptions) => AgentTrace) | undefined;
  /** Opens the same in a worktree of this directory, with the settings, rules and trust of this one. */
  openIn(worktree: Pick<Worktree, 'cwd' | 'origin'>): Promise<AgentLathe>;
  /** Looks for tools at the start of a session; servers whose tools are known start in the background. */
  prepareTools: LatheHost['sources']['prepare'];
  /** Prepares tools unless somebody has looked for them before. Returns what went wrong, by source. */
  discoverOnce(signal: AbortSignal): Promise<Map<string, unknown>>;
}

/** How to open an agent's tool system. */
export interface AgentLatheOptions extends Omit<LatheOptions, 'extend'> {
  /** Replaces what runs the subagents behind `task`, for example on other machines. */
  runTask?: TaskRunner['run'];
}

/** Like `createLathe`, for an agent. */
export async function createAgentLathe({ runTask, ...options }: AgentLatheOptions): Promise<AgentLathe> {
  const sideModels: SideModels = { use: (open) => open() };
  let subagents: Subagents | undefined;
  let skills: SkillSource | undefined;
  const lathe = await createLathe({
    ...options,
    extend: async (parts) => {
      const { settings, env } = parts.loaded;
      const folders = personalFolders({ ...parts, settings }).map((folder) => join(folder, 'agents'));
      const places = {
        workspace: parts.workspace,
        isTrusted: parts.loaded.isTrusted,
        personalFolders: folders,
        pluginFolders: pluginFolders(parts.plugins, 'agents'),
      };
      const { definitions, problems } = await loadSubagents(places);
      const { maxDepth: depth, maxParallel: parallel } = settings.agents;
      const own = new Subagents(definitions, { depth, parallel }, parts.spill.write.bind(parts.spill));
      subagents = own;
      const answerer = pageAnswerer({ settings, env, home: parts.home.path }, sideModels);
      const openSources: Extension['openSources'] = ({ gate }) => [
        (skills = openSkills(parts, { gate, origin: options.worktree?.directory })),
      ];
      return {
        problems,
        openSources,
        ...(depth > 0 && {
          tasks: runTask ? { list: () => own.list(), run: runTask } : own,
          tools: runTask ? [] : [new TaskControlTool(own.background)],
        }),
        ...(answerer && { answerer }),
      };
    },
  });
  if (!skills || !subagents) throw new Error('the tool system was opened without its extension');
  const openTrace = await traceOpener(lathe.host);
  const openIn: AgentLathe['openIn'] = ({ cwd, origin }) => {
    // Of a worktree of a worktree, the settings and rules are still those of the first directory.
    const { directory, top } = options.worktree ?? origin;
    return createAgentLathe({ ...options, cwd, worktree: { ...origin, directory, top } });
  };
  const close = async () => {
    await subagents?.background.stopAll();
    await lathe.close();
  };
  if (!options.worktree) void removeLeftovers(lathe.host).catch(() => undefined);
  const project = options.worktree?.directory ?? lathe.workspace.root;
  const own = { ...discovery(lathe), project, openIn, close, subagents, skills, sideModels, openTrace };
  return { ...lathe, ...lathe.host, ...own };
}

/** The ways to look for tools; the last one does so only once. */
function discovery(lathe: Lathe): Pick<AgentLathe, 'discover' | 'prepareTools' | 'discoverOnce'> {
  let wasAsked = false;
  const prepareTools: AgentLathe['prepareTools'] = (signal) => {
    wasAsked = true;
    return lathe.host.sources.prepare(signal);
  };
  return {
    discover: (signal, name) => {
      wasAsked = true;
      return lathe.discover(signal, name);
    },
    prepareTools,
    discoverOnce: async (signal) => (wasAsked ? new Map() : (await prepareTools(signal)).failures),
  };
}

function openSkills(
  { workspace, userHome, plugins, ...parts }: OpenedParts,
  own: Pick<SkillSourceOptions, 'gate' | 'origin'>,
): SkillSource {
  const { settings, isTrusted } = parts.loaded;
  const [home = '', ...others] = personalFolders({ home: parts.home, userHome, settings });
  const folders = [join(userHome, '.agents'), home, ...others, join(userHome, '.claude')];
  const places = {
    root: workspace.root,
    isTrusted,
    personalFolders: folders.map((folder) => join(folder, 'skills')),
    plugins,
  };
  return new SkillSource({ find: () => findSkills(places), workspace, ...own });
}

/** Nothing of it is loaded when nothing is recorded. */
async function traceOpener({ tracer }: Pick<LatheHost, 'tracer'>): Promise<AgentLathe['openTrace']> {
  if (!tracer) return undefined;
  const { AgentTrace } = await import('./loop/agent-trace.js');
  return (options) => new AgentTrace(tracer, options);
}
