import { join } from 'node:path';
import { createLathe, type Lathe, type LatheHost, type LatheOptions } from '@lathe/core';
import { type ConsentGate, type Extension, type OpenedParts, personalFolders } from '@lathe/core/host';
import { pluginFolders } from './definition-files.js';
import type { AgentTrace, AgentTraceOptions } from './loop/agent-trace.js';
import { pageAnswerer, type SideModels } from './page-answerer.js';
import { findSkills } from './skills/find-skills.js';
import { SkillSource } from './skills/skill-source.js';
import { loadSubagents } from './subagents/subagent-files.js';
import { Subagents } from './subagents/subagents.js';

/** The tool system plus what needs a model: subagents for `task`, and answers about the pages of `web_fetch`. */
export interface AgentLathe extends Lathe, LatheHost {
  /** The subagents of this session. */
  readonly subagents: Subagents;
  /** The skills that can be loaded, once tools were looked for. */
  readonly skills: SkillSource;
  readonly sideModels: SideModels;
  /** Records the work of an agent, when a collector is set. */
  readonly openTrace: ((options: AgentTraceOptions) => AgentTrace) | undefined;
  /** Looks for tools unless somebody has done so before. Returns what went wrong, by source. */
  discoverOnce(signal: AbortSignal): Promise<Map<string, unknown>>;
}

/** Like `createLathe`, for an agent. */
export async function createAgentLathe(options: Omit<LatheOptions, 'extend'>): Promise<AgentLathe> {
  const sideModels: SideModels = { use: (open) => open() };
  let subagents = new Subagents([], { depth: 0, parallel: 0 });
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
      subagents = new Subagents(definitions, { depth, parallel });
      const answerer = pageAnswerer({ settings, env, home: parts.home.path }, sideModels);
      const openSources: Extension['openSources'] = ({ gate }) => [(skills = openSkills(parts, gate))];
      return { problems, openSources, ...(depth > 0 && { tasks: subagents }), ...(answerer && { answerer }) };
    },
  });
  if (!skills) throw new Error('no source of skills was opened');
  let wasAsked = false;
  const discover: Lathe['discover'] = (signal, name) => {
    wasAsked = true;
    return lathe.discover(signal, name);
  };
  const discoverOnce: AgentLathe['discoverOnce'] = async (signal) => (wasAsked ? new Map() : discover(signal));
  const openTrace = await traceOpener(lathe.host);
  return { ...lathe, ...lathe.host, discover, discoverOnce, subagents, skills, sideModels, openTrace };
}

function openSkills(
  { workspace, userHome, plugins, ...parts }: OpenedParts,
  gate: ConsentGate | undefined,
): SkillSource {
  const { settings, isTrusted } = parts.loaded;
  const [home = '', ...others] = personalFolders({ home: parts.home, userHome, settings });
  const own = [join(userHome, '.agents'), home, ...others, join(userHome, '.claude')];
  const places = {
    root: workspace.root,
    isTrusted,
    personalFolders: own.map((folder) => join(folder, 'skills')),
    plugins,
  };
  return new SkillSource({ find: () => findSkills(places), workspace, gate });
}

/** Nothing of it is loaded when nothing is recorded. */
async function traceOpener({ tracer }: Pick<LatheHost, 'tracer'>): Promise<AgentLathe['openTrace']> {
  if (!tracer) return undefined;
  const { AgentTrace } = await import('./loop/agent-trace.js');
  return (options) => new AgentTrace(tracer, options);
}
