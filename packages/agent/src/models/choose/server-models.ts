import { defaultLimits, readText, sendRequest } from '../http/http.js';
import { proxyFor } from '../http/proxy-settings.js';
import { asList, asObject, asString, parseJson } from '../json.js';
import type { Environment, ModelSources } from './model-sources.js';
import { providerNamed } from './providers.js';

const timeoutMs = 3_000;

/** The models that the OpenAI-compatible server of the settings lists. None if it has no list, or does not answer soon. */
export async function serverModels(
  { settings = {}, env }: Pick<ModelSources, 'settings' | 'env'>,
  signal: AbortSignal,
): Promise<string[]> {
  const url = listOf(settings, env);
  if (!url) return [];
  const apiKey = settings.apiKey ?? (settings.baseUrl === undefined ? env['OPENAI_API_KEY'] : undefined);
  try {
    const response = await sendRequest({
      url,
      body: undefined,
      headers: { ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...settings.headers },
      signal,
      limits: { ...defaultLimits, totalMs: timeoutMs },
      proxy: proxyFor(url, env),
    });
    const text = await readText(response.body, 4 * 1024 * 1024);
    if (response.status !== 200) return [];
    const models = asList(asObject(parseJson(text))['data']).map((model) => asString(asObject(model)['id']));
    return [...new Set(models.filter(Boolean))].toSorted();
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** Where the list is; `undefined` if no such server is configured. */
function listOf(settings: NonNullable<ModelSources['settings']>, env: Environment): URL | undefined {
  const { baseUrl = env['OPENAI_BASE_URL'] ?? '', provider = 'openai' } = settings;
  const wire = settings.wire ?? providerNamed(provider)?.wire ?? 'chat';
  const address = `${baseUrl.replace(/\/+$/, '')}/models`;
  const isCompatible = wire === 'chat' || wire === 'responses';
  return isCompatible && URL.canParse(address) ? new URL(address) : undefined;
}
