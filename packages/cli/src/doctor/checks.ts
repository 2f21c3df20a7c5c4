import { type AgentLathe } from '@lathe/agent';
import { checkModel, chooseModel, type ModelChoice, ModelError } from '@lathe/agent/models';
import { unagreedRules, unknownTools } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';
import type { Finding } from './finding.js';
import { fleetQueue } from './fleet-queue.js';
import { languages } from './languages.js';
import { sources } from './sources.js';
import { state } from './state.js';

export type Check = (lathe: AgentLathe, io: Io, signal: AbortSignal) => Finding[] | Promise<Finding[]>;

/** In the order of the report. `ruleNames` comes after `sources`, which brings tools that rules may name. */
export const checks: readonly Check[] = [
  program,
  folder,
  settings,
  rules,
  sandbox,
  model,
  sources,
  languages,
  tools,
  ruleNames,
  webSearch,
  fleetQueue,
  state,
];

function program(_lathe: unknown, io: Pick<Io, 'version'>): Finding[] {
  return [
    { state: 'ok', title: 'lathe', detail: `${io.version} on Node ${process.versions.node}, ${process.platform}` },
  ];
}

function folder({ loaded, workspace }: Pick<AgentLathe, 'loaded' | 'workspace'>): Finding[] {
  const detail = workspace.roots.join(', ');
  if (loaded.isTrusted) return [{ state: 'ok', title: 'folder', detail: `${detail} (trusted)` }];
  return [
    {
      state: 'note',
      title: 'folder',
      detail: `${detail} (not trusted: its settings can only make the rules stricter)`,
      hint: 'lathe trust    to use its settings, commands, servers and .env',
    },
  ];
}

function settings({ loaded, problems }: Pick<AgentLathe, 'loaded' | 'problems'>): Finding[] {
  // Rules that nobody approved are already among the problems.
  const reported = new Set(unagreedRules(loaded.ignored));
  const ignored = loaded.ignored.filter((entry) => !reported.has(entry));
  const files = new Set([...loaded.origins.values()].flat().map(({ source }) => source));
  return [
    { state: 'ok', title: 'settings', detail: files.size > 0 ? [...files].join(', ') : 'defaults only' },
    ...problems.map((problem): Finding => ({ state: 'bad', title: 'settings', detail: problem })),
    ...ignored.map(
      ({ key, reason }): Finding => ({ state: 'note', title: 'settings', detail: `${key} ignored: ${reason}` }),
    ),
  ];
}

function rules({ policy }: Pick<AgentLathe, 'policy'>): Finding[] {
  const { allow, ask, deny } = policy.rules();
  return [
    {
      state: 'ok',
      title: 'policy',
      detail: `mode ${policy.mode}; ${ruleList('allow', allow)}; ${ruleList('ask', ask)}; ${ruleList('deny', deny)}`,
    },
  ];
}

async function sandbox(lathe: Pick<AgentLathe, 'sandbox'>): Promise<Finding[]> {
  const { kind, text } = await lathe.sandbox.status();
  const detail = text.replace(/^Sandbox: /, '');
  if (kind !== 'none') return [{ state: 'ok', title: 'sandbox', detail }];
  const hint = process.platform === 'linux' ? 'install bubblewrap (Debian: apt-get install bubblewrap)' : undefined;
  return [{ state: 'note', title: 'sandbox', detail, ...(hint && { hint }) }];
}

async function model(
  lathe: Pick<AgentLathe, 'home' | 'settings' | 'loaded'>,
  _io: Io,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { model: wanted } = lathe.settings;
  try {
    const choice = await chooseModel(
      { name: wanted.name, settings: wanted, env: lathe.loaded.env, home: lathe.home.path },
      signal,
    );
    if (choice.status === 'chosen') return [await askModel(choice, signal)];
    const [first] = choice.setup.ways;
    const hint = `start lathe in a terminal to choose one, set a key such as OPENAI_API_KEY, or start Ollama and run: ${first?.commands[0] ?? ''}`;
    return [{ state: 'note', title: 'model', detail: choice.setup.problem, hint }];
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return [{ state: 'bad', title: 'model', detail: error.message }];
  }
}

/** A key or an address is right only if the model answers. */
async function askModel(
  { model: chosen, origin }: Extract<ModelChoice, { status: 'chosen' }>,
  signal: AbortSignal,
): Promise<Finding> {
  const name = `${chosen.id} from ${origin}`;
  const start = performance.now();
  try {
    await checkModel(chosen, signal);
    return { state: 'ok', title: 'model', detail: `${name} answers (${Math.round(performance.now() - start)} ms)` };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { state: 'bad', title: 'model', detail: `${name} does not answer: ${error.message}` };
  }
}

function tools({ tools: registry }: Pick<AgentLathe, 'tools'>): Finding[] {
  const names = registry.getAllTools().map(({ name }) => name);
  return [
    { state: 'ok', title: 'tools', detail: names.join(', ') },
    ...registry.rejections().map(
      ({ source, name, reason }): Finding => ({
        state: 'note',
        title: 'tools',
        detail: `${name} from ${source} skipped: ${reason}`,
      }),
    ),
  ];
}

/** Finds rules that match no tool, for example a misspelled name. */
function ruleNames({
  policy,
  tools: registry,
  sources: { servers },
}: Pick<AgentLathe, 'policy' | 'tools' | 'sources'>): Finding[] {
  const known = {
    tools: registry.getAllTools().map(({ name }) => name),
    servers: servers.map(({ client }) => client.definition.alias),
  };
  return Object.entries(policy.rules()).flatMap(([list, own]) =>
    unknownTools(own, known).map(
      ({ rule, meant }): Finding => ({
        state: 'note',
        title: 'policy',
        detail: `the ${list} rule "${rule}" matches no tool`,
        ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
      }),
    ),
  );
}

function webSearch({ search }: Pick<AgentLathe, 'search'>): Finding[] {
  const problems = search.problems.map(
    (problem): Finding => ({ state: 'bad', title: 'web search', detail: problem, hint: searchHint }),
  );
  if (search.engines.length === 0 && problems.length === 0)
    return [{ state: 'note', title: 'web search', detail: 'no search engine is configured', hint: searchHint }];
  const detail = search.engines.map(({ name, url }) => `${name} (${url.host})`).join(', then ');
  return [...(detail === '' ? [] : [{ state: 'ok' as const, title: 'web search', detail }]), ...problems];
}

const searchHint =
  'set TAVILY_API_KEY, BRAVE_API_KEY or SEARXNG_URL, or add to settings.json: "webSearch": { "provider": [{ "type": "searxng", "baseUrl": "https://searx.example.org" }] }';

function ruleList(title: string, list: readonly string[]): string {
  return `${title} rules: ${list.length > 0 ? list.join(', ') : 'none'}`;
}
