import { type ConsentGate, ConsentRefused, type ConsentRequest } from '../scheduler/ask-consent.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { Origin } from '../settings/merge-layers.js';
import { fileHashes, hookFiles } from './hook-files.js';
import { type Hook, type HookEvent, hookEvents } from './hooks.js';

/**
 * The hooks in the settings. Those of a workspace, which is trusted, and of plugins must pass a gate first: the user must
 * have approved their exact commands and the files that they run. The notices name the hooks that do not run.
 */
export async function loadHooks(
  { origins }: Pick<LoadedSettings, 'origins'>,
  { root, gate, pluginGate }: { root: string; gate: ConsentGate | undefined; pluginGate: ConsentGate },
  signal: AbortSignal,
): Promise<{ hooks: Hook[]; notices: string[] }> {
  const hooks: Hook[] = [];
  const notices: string[] = [];
  for (const [key, list] of origins) {
    if (!key.startsWith('hooks.')) continue;
    const name = key.slice('hooks.'.length);
    const event = hookEvents.find((known) => known === name);
    if (!event) {
      notices.push(`There is no hook event "${name}". Known: ${hookEvents.join(', ')}.`);
      continue;
    }
    for (const origin of list) {
      const { layer, source, written } = origin;
      const defined = definitionsOf(event, written);
      try {
        const judge = layer === 'plugin' ? pluginGate : layer === 'workspace' ? gate : undefined;
        await judge?.pass(consentTo(event, defined, origin, root), signal);
        hooks.push(...defined);
      } catch (error) {
        if (!(error instanceof ConsentRefused)) throw error;
        notices.push(`The ${event} hooks of ${source} do not run. ${error.message}`);
      }
    }
  }
  return { hooks, notices };
}

function consentTo(event: HookEvent, hooks: readonly Hook[], { source, pin }: Origin, root: string): ConsentRequest {
  const command = hooks.map((hook) => hook.command).join('\n');
  const filesOf = (hook: Hook) => hookFiles(hook.command, root);
  return {
    kind: 'hook',
    id: `${source} ${event}`,
    // With the content of the files that they run, so that another content is another agreement.
    definition: { hooks, ...(pin === undefined ? { files: fileHashes(hooks.flatMap(filesOf)) } : { pin }) },
    confirmation: {
      type: 'exec',
      title: `Let ${pin === undefined ? 'this project' : source} run its ${event} hooks?`,
      command,
      rootCommand: command.split(/\s/, 1)[0] ?? '',
      directory: root,
      warnings: [`Defined in ${source}. They run without a sandbox whenever ${event} happens.`],
    },
  };
}

const defaultTimeoutMs = 60_000;

/** The settings were validated when they were loaded; values of another shape are skipped. */
function definitionsOf(event: HookEvent, written: unknown): Hook[] {
  return listOf(written).flatMap((group) => {
    const { matcher, hooks } = fieldsOf(group);
    return listOf(hooks).flatMap((hook) => {
      const { command, timeout } = fieldsOf(hook);
      if (typeof command !== 'string') return [];
      return [{ event, command, timeoutMs: timeoutMs(timeout), ...(typeof matcher === 'string' && { matcher }) }];
    });
  });
}

/** Claude Code uses seconds and Qwen Code milliseconds, so numbers below 1,000 count as seconds. */
function timeoutMs(value: unknown): number {
  if (typeof value !== 'number') return defaultTimeoutMs;
  return value < 1_000 ? value * 1_000 : value;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
