import { isLoopback } from '../http/proxy-settings.js';
import { RemoteModel } from '../http/remote-model.js';
import { inputsOf } from './known-models.js';
import { findLocalServers, type LocalModel, type LocalServerName } from './local.js';
import { modelSetup } from './model-setup.js';
import type { ModelChoice, ModelSources } from './model-sources.js';
import { loadWireFormat } from './providers.js';

/** Chooses a model on this machine, or says how to get one. */
export async function chooseLocal(
  sources: ModelSources,
  signal: AbortSignal,
  name: string | undefined,
  server: string,
): Promise<ModelChoice> {
  const { settings = {}, env, options } = sources;
  const servers = await findLocalServers(signal, { addresses: addressesOf(sources) });
  const models = servers.filter((each) => server === 'local' || each.server === server).flatMap((each) => each.models);
  const chosen = pick(models, name);
  if (!chosen) return { status: 'none', setup: modelSetup(servers, { wanted: name, server, env }) };
  const wire = settings.wire ?? 'chat';
  const model = new RemoteModel(await loadWireFormat(wire), {
    ...options,
    provider: chosen.server,
    baseUrl: chosen.baseUrl,
    model: chosen.name,
    contextWindow: settings.contextWindow ?? chosen.contextWindow,
    maxOutputTokens: settings.maxOutputTokens,
    supports: settings.inputs ? { ...chosen.supports, ...inputsOf(settings.inputs) } : chosen.supports,
    isRaw: wire === 'chat',
  });
  return { status: 'chosen', model, origin: `${chosen.server} on this machine`, notes: notesOn(chosen) };
}

/** The model asked for, or else one that supports tools, loaded if possible, with the largest window. */
function pick(models: LocalModel[], name: string | undefined): LocalModel | undefined {
  if (name) return models.find((model) => model.name === name || model.name.replace(/:latest$/, '') === name);
  return chatModels(models).sort((a, b) => score(b) - score(a))[0];
}

export function chatModels(models: readonly LocalModel[]): LocalModel[] {
  return models.filter(({ name }) => !/embed|rerank/i.test(name));
}

function notesOn({ server, name, contextWindow, supports }: LocalModel): string[] {
  const notes: string[] = [];
  if (!supports.tools) notes.push(`${name} was not trained for tools: it gets them as text, so do not expect much.`);
  if (contextWindow < 16_000)
    notes.push(
      `${name} sees only ${contextWindow} tokens.${server === 'ollama' ? ' Start Ollama with OLLAMA_CONTEXT_LENGTH=32768 for more.' : ''}`,
    );
  return notes;
}

/** Reads OLLAMA_HOST like Ollama does, as long as it names this machine. */
export function addressesOf({
  localAddresses = {},
  env,
}: Pick<ModelSources, 'localAddresses' | 'env'>): Partial<Record<LocalServerName, string>> {
  const host = env['OLLAMA_HOST'] ?? '';
  const full = host.includes('://') ? host : `http://${host}`;
  if (host === '' || localAddresses.ollama || !URL.canParse(full)) return localAddresses;
  const url = new URL(full);
  if (url.port === '' && !host.includes('://')) url.port = '11434';
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return isLoopback(url.hostname) ? { ...localAddresses, ollama: url.origin } : localAddresses;
}

function score({ supports, isLoaded, contextWindow }: LocalModel): number {
  return (supports.tools ? 2e9 : 0) + (isLoaded ? 1e9 : 0) + contextWindow;
}
