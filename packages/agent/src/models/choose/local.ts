import { defaultLimits, readText, sendRequest } from '../http/http.js';
import { asCount, asList, asObject, asString, type JsonObject, parseJson } from '../json.js';
import type { ModelFeatures } from '../model.js';
import { knownModel } from './known-models.js';

export type LocalServerName = 'ollama' | 'lmstudio' | 'llamacpp' | 'vllm';

/** A model that a server on this machine offers. */
export interface LocalModel {
  server: LocalServerName;
  /** For OpenAI-compatible requests. */
  baseUrl: string;
  name: string;
  contextWindow: number;
  supports: ModelFeatures;
  /** Whether it is in memory already. */
  isLoaded: boolean;
}

export interface LocalServer {
  server: LocalServerName;
  url: string;
  models: LocalModel[];
}

/** Default addresses. */
const servers: Record<
  LocalServerName,
  { address: string; probe: (probe: Probe) => Promise<LocalModel[] | undefined> }
> = {
  ollama: { address: 'http://127.0.0.1:11434', probe: probeOllama },
  lmstudio: { address: 'http://127.0.0.1:1234', probe: probeLmStudio },
  llamacpp: { address: 'http://127.0.0.1:8080', probe: probeLlamaCpp },
  vllm: { address: 'http://127.0.0.1:8000', probe: probeVllm },
};

export function isLocalServerName(name: string): name is LocalServerName {
  return Object.hasOwn(servers, name);
}

/** Probes all servers at once. A server that does not answer within `timeoutMs` counts as absent. */
export async function findLocalServers(
  signal: AbortSignal,
  {
    addresses = {},
    timeoutMs = 300,
  }: { addresses?: Partial<Record<LocalServerName, string>>; timeoutMs?: number } = {},
): Promise<LocalServer[]> {
  const names = Object.keys(servers).filter(isLocalServerName);
  const found = await Promise.all(
    names.map(async (server) => {
      const url = addresses[server] ?? servers[server].address;
      const models = await servers[server].probe({ url, signal, timeoutMs });
      return models && { server, url, models };
    }),
  );
  signal.throwIfAborted();
  return found.filter((server) => server !== undefined);
}

interface Probe {
  url: string;
  signal: AbortSignal;
  timeoutMs: number;
}

/**
 * Ollama reports the largest window of a model but loads it with a smaller one, and silently cuts what exceeds it. Only a
 * loaded model shows the real window; for others we assume what its file sets, or the smallest default.
 */
async function probeOllama(probe: Probe): Promise<LocalModel[] | undefined> {
  const tags = await getJson(probe, '/api/tags');
  if (!Array.isArray(tags?.['models'])) return undefined;
  const running = asList((await getJson(probe, '/api/ps'))?.['models']).map(asObject);
  const names = tags['models'].map((model) => asString(asObject(model)['name'])).filter(Boolean);
  return Promise.all(
    names.slice(0, 30).map(async (name) => {
      const shown = (await getJson(probe, '/api/show', { model: name })) ?? {};
      const loaded = running.find((model) => model['name'] === name);
      const capabilities = asList(shown['capabilities']);
      const set = /^num_ctx\s+(\d+)/m.exec(asString(shown['parameters']))?.[1];
      return localModel('ollama', probe, name, {
        contextWindow: asCount(loaded?.['context_length']) ?? (set ? Number(set) : 4_096),
        supports: { tools: capabilities.includes('tools'), images: capabilities.includes('vision') },
        isLoaded: loaded !== undefined,
      });
    }),
  );
}

async function probeLmStudio(probe: Probe): Promise<LocalModel[] | undefined> {
  const list = await getJson(probe, '/api/v0/models');
  if (!Array.isArray(list?.['data'])) return undefined;
  const models = list['data'].map(asObject).filter(({ type }) => type === 'llm' || type === 'vlm');
  return models.map((model) =>
    localModel('lmstudio', probe, asString(model['id']), {
      contextWindow: asCount(model['loaded_context_length']) ?? asCount(model['max_context_length']),
      supports: { tools: asList(model['capabilities']).includes('tool_use'), images: model['type'] === 'vlm' },
      isLoaded: model['state'] === 'loaded',
    }),
  );
}

async function probeLlamaCpp(probe: Probe): Promise<LocalModel[] | undefined> {
  const props = await getJson(probe, '/props');
  const settings = props?.['default_generation_settings'];
  if (!props || settings === undefined) return undefined;
  const list = await getJson(probe, '/v1/models');
  const name = asString(asObject(asList(list?.['data'])[0])['id']) || asString(props['model_alias']) || 'default';
  const template = asString(props['chat_template']);
  return [
    localModel('llamacpp', probe, name, {
      contextWindow: asCount(asObject(settings)['n_ctx']),
      // A chat template that never mentions tools cannot show them to the model.
      supports: {
        tools: template === '' || template.includes('tool'),
        images: asObject(props['modalities'])['vision'] === true,
      },
      isLoaded: true,
    }),
  ];
}

async function probeVllm(probe: Probe): Promise<LocalModel[] | undefined> {
  const list = await getJson(probe, '/v1/models');
  const models = asList(list?.['data'])
    .map(asObject)
    .filter((model) => model['owned_by'] === 'vllm' || 'max_model_len' in model);
  if (models.length === 0) return undefined;
  return models.map((model) =>
    localModel('vllm', probe, asString(model['id']), {
      contextWindow: asCount(model['max_model_len']),
      isLoaded: true,
    }),
  );
}

interface LocalModelFacts {
  contextWindow: number | undefined;
  supports?: Omit<ModelFeatures, 'pdf'>;
  isLoaded: boolean;
}

function localModel(server: LocalServerName, { url }: Probe, name: string, facts: LocalModelFacts): LocalModel {
  const known = knownModel(name);
  return {
    server,
    baseUrl: `${url.replace(/\/+$/, '')}/v1`,
    name,
    contextWindow: facts.contextWindow ?? Math.min(known.contextWindow, 32_768),
    supports: facts.supports ? { ...facts.supports, pdf: false } : known.supports,
    isLoaded: facts.isLoaded,
  };
}

async function getJson(
  { url, signal, timeoutMs }: Probe,
  path: string,
  body?: object,
): Promise<JsonObject | undefined> {
  try {
    const response = await sendRequest({
      url: new URL(path, url),
      body: body && JSON.stringify(body),
      headers: {},
      signal,
      limits: { ...defaultLimits, totalMs: timeoutMs },
    });
    const text = await readText(response.body, 4 * 1024 * 1024);
    return response.status === 200 ? asObject(parseJson(text)) : undefined;
  } catch {
    // No server here, or one that is not a model server.
    return undefined;
  }
}
