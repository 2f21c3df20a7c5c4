import type { SpillStore } from '../files/spill.js';
import type { Policy } from '../policy/policy.js';
import type { Settings } from '../settings/keys.js';
import type { AnyTool } from '../tools/tools.js';
import { type Answerer, WebFetchTool } from '../tools/web-fetch.js';
import { WebSearchTool } from '../tools/web-search.js';
import { GuardedHttp } from '../web/http/guarded-http.js';
import { openEngines, type SearchSetup } from '../web/search/open-engines.js';
import { secretsOf } from './secrets-of.js';

export interface WebToolsOptions {
  policy: Policy;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  spill: SpillStore;
  answerer: Answerer | undefined;
}

export interface WebTools {
  tools: AnyTool[];
  /** The engines behind `web_search`, and what is wrong with the settings of others. */
  search: SearchSetup;
  close(): Promise<void>;
}

/** The tools that go out into the web. Without a search engine there is no `web_search`. */
export function webTools({ policy, settings, env, spill, answerer }: WebToolsOptions): WebTools {
  const { proxy, timeoutMs } = settings.web;
  const shared = { proxy: { proxy, env }, timeoutMs };
  const http = new GuardedHttp({ ...shared, isOpen: (host, port) => policy.opensHost(host, port) });
  const search = openEngines(settings.webSearch, env, shared);
  const secrets = secretsOf({ env, settings });
  const tools: AnyTool[] = [
    new WebFetchTool({
      http,
      spill: (name, text) => spill.write(name, text),
      secrets,
      ...(answerer && { answerer }),
    }),
  ];
  if (search.engines.length > 0) tools.push(new WebSearchTool({ engines: search.engines, secrets }));
  return {
    tools,
    search,
    close: async () => {
      await Promise.all([http.close(), search.close()]);
    },
  };
}
