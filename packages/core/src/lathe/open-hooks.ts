import { randomUUID } from 'node:crypto';
import type { Approver } from '../contract/call.js';
import type { LatheHome } from '../files/lathe-home.js';
import { Hooks } from '../hooks/hooks.js';
import { loadHooks } from '../hooks/load-hooks.js';
import { Consent } from '../policy/consent.js';
import type { Policy } from '../policy/policy.js';
import { childEnvironment } from '../process/run/environment.js';
import { ConsentGate } from '../scheduler/ask-consent.js';
import type { LoadedSettings } from '../settings/load-settings.js';

export interface HookOptions {
  loaded: LoadedSettings;
  home: LatheHome;
  root: string;
  policy: Policy;
  approver: Approver;
  /** The person trusts the folder for this run, its commands included: nothing is asked. */
  isConsented: boolean;
}

/** The hooks of the settings, ready to run, and what is to be said about those that are not. */
export async function openHooks(options: HookOptions): Promise<{ hooks: Hooks | undefined; notices: string[] }> {
  const { loaded, home, root, policy, approver, isConsented } = options;
  const pluginGate = new ConsentGate(new Consent(home), approver);
  const gate = isConsented ? undefined : pluginGate;
  const { hooks, notices } = await loadHooks(loaded, { root, gate, pluginGate }, new AbortController().signal);
  if (hooks.length === 0) return { hooks: undefined, notices };
  const env = childEnvironment(loaded.env, {
    set: { LATHE_PROJECT_DIR: root, CLAUDE_PROJECT_DIR: root, QWEN_PROJECT_DIR: root },
  });
  const session = { id: randomUUID(), transcriptPath: '', cwd: root, permissionMode: () => policy.mode };
  return { hooks: new Hooks(hooks, { cwd: root, env }, session), notices };
}
