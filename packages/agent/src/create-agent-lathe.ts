import { join } from 'node:path';
import { createLathe, type Lathe, type LatheHost, type LatheOptions } from '@lathe/core';
import { personalFolders } from '@lathe/core/host';
import type { AgentTrace, AgentTraceOptions } from './loop/agent-trace.js';
import { pageAnswerer, type SideModels } from './page-answerer.js';
import { loadSubagents } from './subagents/subagent-files.js';
import { Subagents } from './subagents/subagents.js';

/** The tool system plus what needs a model: subagents for `task`, and answers about the pages of `web_fetch`. */
export interface AgentLathe extends Lathe, LatheHost {
  /** The subagents of this session. */
  readonly subagents: Subagents;
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
  const lathe = await createLathe({
    ...options,
    extend: async (parts) => {
      const { settings, env } = parts.loaded;
      const folders = personalFolders({ ...parts, settings }).map((folder) => join(folder, 'agents'));
      const places = { workspace: parts.workspace, isTrusted: parts.loaded.isTrusted, personalFolders: folders };
      const { definitions, problems } = await loadSubagents(places);
      const { maxDepth: depth, maxParallel: parallel } = settings.agents;
      subagents = new Subagents(definitions, { depth, parallel });
      const answerer = pageAnswerer({ settings, env, home: parts.home.path }, sideModels);
      return { problems, ...(depth > 0 && { tasks: subagents }), ...(answerer && { answerer }) };
    },
  });
  let wasAsked = false;
  const discover: Lathe['discover'] = (signal, name) => {
    wasAsked = true;
    return lathe.discover(signal, name);
  };
  const discoverOnce: AgentLathe['discoverOnce'] = async (signal) => (wasAsked ? new Map() : discover(signal));
  const openTrace = await traceOpener(lathe.host);
  return { ...lathe, ...lathe.host, discover, discoverOnce, subagents, sideModels, openTrace };
}

/** Nothing of it is loaded when nothing is recorded. */
async function traceOpener({ tracer }: Pick<LatheHost, 'tracer'>): Promise<AgentLathe['openTrace']> {
  if (!tracer) return undefined;
  const { AgentTrace } = await import('./loop/agent-trace.js');
  return (options) => new AgentTrace(tracer, options);
}
