import { GuardedHttp, type GuardedHttpOptions } from '../http/guarded-http.js';
import { hostOf, portOf } from '../http/url-check.js';
import { createEngine, engineKinds } from './engine-kinds.js';
import type { EngineOptions, SearchEngine } from './search-engine.js';

/** `webSearch` of the settings. */
export interface SearchSettings {
  provider: readonly ({ type: string } & EngineOptions)[];
  default?: string | undefined;
}

export interface SearchSetup {
  /** The default engine is the first one. */
  engines: readonly SearchEngine[];
  /** Why configured engines are not used. */
  problems: readonly string[];
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

type Kind = keyof typeof engineKinds;

/** The engines from settings and environment. The user chose their URLs, so these may be private. */
export function openEngines(
  settings: SearchSettings,
  env: Env,
  options: Omit<GuardedHttpOptions, 'isOpen'> = {},
): SearchSetup {
  const engines: SearchEngine[] = [];
  const problems: string[] = [];
  const http = new GuardedHttp({
    ...options,
    isOpen: (host, port) => engines.some(({ url }) => hostOf(url) === host && portOf(url) === port),
  });
  for (const { type, ...own } of [...settings.provider, ...fromEnvironment(env)]) {
    const kind = kindOf(type);
    if (engines.some(({ name }) => name === kind)) continue;
    const problem = kind === undefined ? unknownKind(type) : problemOf(kind, own, env);
    if (kind === undefined || problem !== undefined) problems.push(`${type}: ${problem}`);
    else engines.push(createEngine(kind, http, { ...own, apiKey: own.apiKey ?? keyOf(kind, env) }));
  }
  return { engines: chosenFirst(engines, settings.default, problems), problems, close: () => http.close() };
}

function kindOf(type: string): Kind | undefined {
  const name = type.toLowerCase() === 'searx' ? 'searxng' : type.toLowerCase();
  return name === 'searxng' || name === 'tavily' || name === 'brave' ? name : undefined;
}

function unknownKind(type: string): string {
  const known = Object.keys(engineKinds).join(', ');
  return type === 'google'
    ? `Google closes this service in January 2027; use one of ${known}`
    : `not a known search engine; use one of ${known}, or an MCP server that searches`;
}

function problemOf(kind: Kind, { apiKey, baseUrl }: EngineOptions, env: Env): string | undefined {
  if (baseUrl !== undefined && !URL.canParse(baseUrl)) return 'baseUrl is not a URL';
  if (kind === 'searxng') return baseUrl === undefined ? 'needs a baseUrl' : undefined;
  const hasKey = (apiKey ?? keyOf(kind, env) ?? '') !== '';
  return hasKey ? undefined : `needs an apiKey, or the variable ${variables[kind]}`;
}

const variables: Record<Kind, string> = {
  searxng: 'SEARXNG_URL',
  tavily: 'TAVILY_API_KEY',
  brave: 'BRAVE_API_KEY',
};

function keyOf(kind: Kind, env: Env): string | undefined {
  return env[variables[kind]] || undefined;
}

function fromEnvironment(env: Env): ({ type: Kind } & EngineOptions)[] {
  const { searxng: address } = variables;
  const keyed = (['tavily', 'brave'] as const).filter((kind) => keyOf(kind, env) !== undefined);
  return [
    ...(env[address] ? [{ type: 'searxng' as const, baseUrl: env[address] }] : []),
    ...keyed.map((type) => ({ type })),
  ];
}

function chosenFirst(engines: SearchEngine[], chosen: string | undefined, problems: string[]): SearchEngine[] {
  if (chosen === undefined) return engines;
  const first = engines.find(({ name }) => name === kindOf(chosen));
  if (!first) problems.push(`webSearch.default is ${chosen}, which is not configured`);
  return first ? [first, ...engines.filter((engine) => engine !== first)] : engines;
}
