import type { LatheHome } from '../files/lathe-home.js';
import { Consent, definitionHash } from '../policy/consent.js';
import type { Approver } from '../scheduler/call.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import { type Hook, type HookEvent, hookEvents } from './hooks.js';

export interface HookSources {
  loaded: Pick<LoadedSettings, 'origins'>;
  home: LatheHome;
  /** Real path of the workspace. */
  root: string;
  approver: Approver;
  /** The person trusts everything in the folder for this run. */
  isTrustedNow: boolean;
}

/**
 * The hooks of the settings. Those that the workspace brings (it is trusted, or they would not be in the settings) run
 * only once a person has agreed to their exact commands; changing one byte asks again. Returns what does not run, too.
 */
export async function loadHooks(
  sources: HookSources,
  signal: AbortSignal,
): Promise<{ hooks: Hook[]; notices: string[] }> {
  const hooks: Hook[] = [];
  const notices: string[] = [];
  for (const [key, origins] of sources.loaded.origins) {
    if (!key.startsWith('hooks.')) continue;
    const name = key.slice('hooks.'.length);
    const event = hookEvents.find((known) => known === name);
    if (!event) {
      notices.push(`There is no hook event "${name}". Known: ${hookEvents.join(', ')}.`);
      continue;
    }
    for (const { layer, source, written } of origins) {
      const defined = definitionsOf(event, written);
      if (layer !== 'workspace' || (await isAgreed(event, defined, source, sources, signal))) hooks.push(...defined);
      else
        notices.push(
          `The ${event} hooks of ${source} do not run: nobody has agreed to them (--trust agrees for one run).`,
        );
    }
  }
  return { hooks, notices };
}

async function isAgreed(
  event: HookEvent,
  hooks: readonly Hook[],
  source: string,
  { home, root, approver, isTrustedNow }: HookSources,
  signal: AbortSignal,
): Promise<boolean> {
  if (isTrustedNow) return true;
  const consent = new Consent(home);
  const id = `${root} ${source} ${event}`;
  const hash = definitionHash(hooks);
  if (await consent.isApproved('hook', id, hash)) return true;
  const command = hooks.map((hook) => hook.command).join('\n');
  try {
    const decision = await approver.decide(
      {
        callId: `hook-${event}`,
        tool: 'hook',
        displayName: `${event} hook`,
        description: `Run hooks of ${source}`,
        args: hooks,
        confirmation: {
          type: 'exec',
          title: `Let this project run its ${event} hooks?`,
          command,
          rootCommand: command.split(/\s/, 1)[0] ?? '',
          directory: root,
          warnings: [`Defined in ${source}; they run without a sandbox whenever ${event} happens.`],
        },
        reason: 'the project brings hooks that nobody has agreed to yet',
      },
      signal,
    );
    if (decision.outcome !== 'once' && decision.outcome !== 'always') return false;
  } catch {
    // Nobody is there to ask.
    return false;
  }
  await consent.approve('hook', id, hash);
  return true;
}

const defaultTimeoutMs = 60_000;

/** The values were checked when the settings were read; what does not have the shape is passed over. */
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

/** Claude Code counts seconds, Qwen Code milliseconds; nobody gives a hook a quarter of an hour, or less than a second. */
function timeoutMs(value: unknown): number {
  if (typeof value !== 'number') return defaultTimeoutMs;
  return value < 1_000 ? value * 1_000 : value;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
