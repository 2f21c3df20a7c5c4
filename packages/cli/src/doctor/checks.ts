import { chooseModel } from '@lathe/agent/models';
import { type Lathe, unagreedRules, unknownTools } from '@lathe/core';
import type { Io } from '../command-line/io.js';
import type { Finding } from './finding.js';
import { sources } from './sources.js';

export type Check = (lathe: Lathe, io: Io, signal: AbortSignal) => Finding[] | Promise<Finding[]>;

/** In the order they are shown. */
export const checks: readonly Check[] = [
  programs,
  folder,
  settings,
  rules,
  sandbox,
  model,
  sources,
  tools,
  ruleNames,
  webSearch,
];

function programs(_lathe: Lathe, io: Io): Finding[] {
  return [
    { state: 'ok', title: 'lathe', detail: `${io.version} on Node ${process.versions.node}, ${process.platform}` },
  ];
}

function folder({ loaded, workspace }: Lathe): Finding[] {
  const detail = workspace.roots.join(', ');
  if (loaded.isTrusted) return [{ state: 'ok', title: 'folder', detail: `${detail} (trusted)` }];
  return [
    {
      state: 'note',
      title: 'folder',
      detail: `${detail} (not trusted: its settings can only tighten)`,
      hint: 'lathe trust    to let its settings, commands, servers and .env count',
    },
  ];
}

function settings({ loaded, problems }: Lathe): Finding[] {
  // Rules nobody agreed to are among the problems.
  const told = new Set(unagreedRules(loaded.ignored));
  const ignored = loaded.ignored.filter((entry) => !told.has(entry));
  const files = new Set([...loaded.origins.values()].flat().map(({ source }) => source));
  return [
    { state: 'ok', title: 'settings', detail: files.size > 0 ? [...files].join(', ') : 'defaults only' },
    ...problems.map((problem): Finding => ({ state: 'bad', title: 'settings', detail: problem })),
    ...ignored.map(
      ({ key, reason }): Finding => ({ state: 'note', title: 'settings', detail: `${key} ignored: ${reason}` }),
    ),
  ];
}

function rules({ policy }: Lathe): Finding[] {
  const { allow, ask, deny } = policy.rules();
  return [
    {
      state: 'ok',
      title: 'policy',
      detail: `mode ${policy.mode}; ${listed('allow', allow)}; ${listed('ask', ask)}; ${listed('deny', deny)}`,
    },
  ];
}

async function sandbox(lathe: Lathe): Promise<Finding[]> {
  const { kind, text } = await lathe.sandbox.status();
  if (kind !== 'none') return [{ state: 'ok', title: 'sandbox', detail: text }];
  const hint = process.platform === 'linux' ? 'install bubblewrap (Debian: apt-get install bubblewrap)' : undefined;
  return [{ state: 'note', title: 'sandbox', detail: text, ...(hint && { hint }) }];
}

async function model({ settings: { model: wanted }, loaded }: Lathe, _io: Io, signal: AbortSignal): Promise<Finding[]> {
  const name = wanted.name === undefined ? {} : { name: wanted.name };
  const choice = await chooseModel({ ...name, settings: wanted, env: loaded.env }, signal);
  if (choice.status === 'chosen')
    return [{ state: 'ok', title: 'model', detail: `${choice.model.id} from ${choice.origin}` }];
  const [first] = choice.setup.ways;
  const hint = `start lathe in a terminal for the ways to get one; the first: ${first?.commands.join('; ') ?? ''}`;
  return [{ state: 'note', title: 'model', detail: choice.setup.problem, hint }];
}

function tools({ registry }: Lathe): Finding[] {
  const names = registry.getAllTools().map(({ name }) => name);
  return [
    { state: 'ok', title: 'tools', detail: names.join(', ') },
    ...registry.rejections().map(
      ({ source, name, reason }): Finding => ({
        state: 'note',
        title: 'tools',
        detail: `${name} from ${source} left out: ${reason}`,
      }),
    ),
  ];
}

/** After the sources, which bring tools that rules may speak of. */
function ruleNames({ policy, registry, sources: { servers } }: Lathe): Finding[] {
  const known = {
    tools: registry.getAllTools().map(({ name }) => name),
    servers: servers.map(({ client }) => client.definition.alias),
  };
  return Object.entries(policy.rules()).flatMap(([list, own]) =>
    unknownTools(own, known).map(
      ({ rule, meant }): Finding => ({
        state: 'note',
        title: 'policy',
        detail: `the ${list} rule "${rule}" is about no tool that is here`,
        ...(meant !== undefined && { hint: `did you mean ${meant}?` }),
      }),
    ),
  );
}

function webSearch({ search }: Lathe): Finding[] {
  const problems = search.problems.map(
    (problem): Finding => ({ state: 'bad', title: 'web search', detail: problem, hint: searchHint }),
  );
  if (search.engines.length === 0 && problems.length === 0)
    return [{ state: 'note', title: 'web search', detail: 'no search engine is set up', hint: searchHint }];
  const detail = search.engines.map(({ name, url }) => `${name} (${url.host})`).join(', then ');
  return [...(detail === '' ? [] : [{ state: 'ok' as const, title: 'web search', detail }]), ...problems];
}

const searchHint =
  'set TAVILY_API_KEY, BRAVE_API_KEY or SEARXNG_URL, or add to settings.json: "webSearch": { "provider": [{ "type": "searxng", "baseUrl": "https://searx.example.org" }] }';

function listed(title: string, list: readonly string[]): string {
  return `${title} ${list.length > 0 ? list.join(', ') : 'nothing'}`;
}
