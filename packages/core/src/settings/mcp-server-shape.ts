import { anyString, boolean, choice, integer, list, object, secret, secrets, string, type TypeOf } from './shape.js';

/** One entry of `mcpServers`, with every key Qwen Code knows. */
export const mcpServerShape = object({
  command: string,
  args: list(anyString),
  env: secrets,
  cwd: string,
  url: string,
  httpUrl: string,
  headers: secrets,
  tcp: string,
  type: choice(['stdio', 'sse', 'http', 'sdk'], { 'streamable-http': 'http', streamableHttp: 'http' }),
  timeout: integer(1),
  discoveryTimeoutMs: integer(100, 300_000),
  trust: boolean,
  includeTools: list(string),
  excludeTools: list(string),
  alwaysLoadTools: boolean,
  description: string,
  extensionName: string,
  scope: string,
  oauth: object({
    enabled: boolean,
    clientId: string,
    clientSecret: secret,
    authorizationUrl: string,
    tokenUrl: string,
    scopes: list(string),
    redirectUri: string,
    tokenParamName: string,
    audiences: list(string),
  }),
  authProviderType: choice(['dynamic_discovery', 'google_credentials', 'service_account_impersonation']),
  targetAudience: string,
  targetServiceAccount: string,
});

/** One entry of `mcpServers` in the settings. */
export type McpServerSettings = TypeOf<typeof mcpServerShape>;
