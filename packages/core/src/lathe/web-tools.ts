import type { SpillStore } from '../files/spill.js';
import type { Policy } from '../policy/policy.js';
import type { Settings } from '../settings/keys.js';
import type { AnyTool } from '../tools/tools.js';
import { WebFetchTool } from '../tools/web-fetch.js';
import { GuardedHttp } from '../web/guarded-http.js';
import { secretsOf } from './secrets-of.js';

export interface WebToolsOptions {
  policy: Policy;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  spill: SpillStore;
}

/** The tools that go out into the web, and the one way out that they share. */
export function webTools({ policy, settings, env, spill }: WebToolsOptions): {
  tools: AnyTool[];
  close(): Promise<void>;
} {
  const http = new GuardedHttp({
    isOpen: (host, port) => policy.opensHost(host, port),
    proxy: { proxy: settings.web.proxy, env },
    timeoutMs: settings.web.timeoutMs,
  });
  const fetchTool = new WebFetchTool({ http, spill: (name, text) => spill.write(name, text), secrets: secretsOf(env) });
  return { tools: [fetchTool], close: () => http.close() };
}
