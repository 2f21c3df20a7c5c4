import type { LoadedSettings } from '../settings/load-settings.js';

const secretNames = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
const plainHeaders = /^(?:accept|content-type|user-agent|host|origin|referer)/i;
/** Shorter values are plain words, and would blacken ordinary text. */
const leastLength = 8;

type Values = Readonly<Record<string, string | undefined>>;

/** Values that no file of ours may contain: secret variables, and the keys, headers and variables in the settings. */
export function secretsOf({
  env,
  settings,
  givenServers,
}: Pick<LoadedSettings, 'env' | 'settings' | 'givenServers'>): string[] {
  const { model, mcpServers, telemetry, webSearch } = settings;
  const configured = [
    model.apiKey,
    ...headerValues(model.headers),
    ...headerValues(telemetry.headers),
    ...(webSearch.provider ?? []).map(({ apiKey }) => apiKey),
    ...[...Object.values(mcpServers), ...Object.values(givenServers ?? {})].flatMap((server) => [
      ...Object.values(server.env ?? {}),
      ...headerValues(server.headers ?? {}),
      server.oauth?.clientSecret,
    ]),
  ].flatMap((value) => (value !== undefined && value.length >= leastLength ? [value, ...tokenIn(value)] : []));
  const variables = Object.entries(env).flatMap(([name, value]) => (value && secretNames.test(name) ? [value] : []));
  return [...new Set([...variables, ...configured])];
}

function headerValues(headers: Values): (string | undefined)[] {
  return Object.entries(headers).flatMap(([name, value]) => (plainHeaders.test(name) ? [] : [value]));
}

/** `Bearer abc`: the token is the secret, whatever stands before it. */
function tokenIn(value: string): string[] {
  const [, token] = /^\w+ (\S{8,})$/.exec(value) ?? [];
  return token === undefined ? [] : [token];
}
