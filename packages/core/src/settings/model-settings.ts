import { setting } from './setting.js';
import { boolean, choice, integer, list, map, number, object, pattern, secret, secrets, string } from './shape.js';

const names = list(string);
export const url = pattern(/^(?:https?:\/\/\S+|\$.*)$/, 'a URL that begins with http:// or https://');
const variable = pattern(/^[A-Za-z_]\w*$/, 'the name of a variable');
const listedModel = object({ id: string, name: string, baseUrl: url, envKey: variable }, ['id']);
/** A limit that every layer can lower. Once the system file or a workspace has set it, no layer can raise it. */
export const limit = { workspace: 'tighten', strictness: 'low' } as const;

/** The rows of `settingsTable` about the model. */
export const modelSettings = {
  'model.name': setting(string, undefined, 'The model that answers.', { env: 'LATHE_MODEL' }),
  'model.sideModel': setting(string, undefined, 'A smaller model for summaries.', { env: 'LATHE_SIDE_MODEL' }),
  'model.provider': setting(string, undefined, 'The provider of the model.', {
    workspace: 'never',
    env: 'LATHE_PROVIDER',
  }),
  'model.baseUrl': setting(url, undefined, 'Address of the server of the model.', {
    also: ['security.auth.baseUrl'],
    workspace: 'never',
    env: 'LATHE_BASE_URL',
  }),
  'model.apiKey': setting(secret, undefined, 'Key of the model, best written as "$NAME".', {
    also: ['security.auth.apiKey'],
    workspace: 'never',
  }),
  'model.providers': setting(
    map(list(listedModel), ['openai', 'anthropic', 'gemini', 'dashscope', 'deepseek', 'openrouter']),
    {},
    'Models by the provider whose format they use, each with its own address and the variable of its key.',
    { also: ['modelProviders'], merge: 'by-key', workspace: 'never' },
  ),
  'model.keys': setting(
    secrets,
    {},
    'Keys of the models in model.providers, by the variable that envKey names; the environment comes first.',
    { also: ['env'], merge: 'by-key', workspace: 'never' },
  ),
  'model.headers': setting(secrets, {}, 'Headers sent to the model.', { merge: 'by-key', workspace: 'never' }),
  'model.wire': setting(
    choice(['chat', 'responses', 'messages', 'gemini']),
    undefined,
    'How to talk to the server: chat (/chat/completions), responses (/responses), messages (/messages) or gemini.',
    { workspace: 'never' },
  ),
  'model.effort': setting(
    choice(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    undefined,
    'How much the model thinks. Lathe sends the closest level that the model supports.',
    { env: 'LATHE_EFFORT' },
  ),
  'model.fallbacks': setting(
    names,
    [],
    'Models to continue with, in this order, if one has no quota, keeps failing or is too small for the conversation.',
  ),
  'model.contextWindow': setting(
    integer(1_000),
    undefined,
    'Size of the context window in tokens, if the server does not report it.',
  ),
  'model.inputs': setting(
    list(choice(['text', 'image', 'audio', 'video', 'pdf'])),
    undefined,
    'What the model accepts, if Lathe does not know it: image, audio, video, pdf.',
  ),
  'model.maxOutputTokens': setting(integer(1), undefined, 'Longest answer of the model, in tokens.'),
  'model.maxSessionTurns': setting(integer(-1), -1, 'Turns of one session; -1 for no limit.', {
    ...limit,
    also: ['maxSessionTurns'],
  }),
  'model.maxSessionTokens': setting(integer(-1), -1, 'Tokens of one session, in and out; -1 for no limit.', limit),
  'model.maxSessionMinutes': setting(integer(-1), -1, 'Minutes of work in one session; -1 for no limit.', limit),
  'model.maxSessionCents': setting(
    integer(-1),
    -1,
    'Cost of one session in cents; -1 for no limit. Lathe then uses no model without a known price.',
    limit,
  ),
  'model.prices': setting(
    map(
      object({ input: number(0), output: number(0), cachedInput: number(0), cacheWrite: number(0) }, [
        'input',
        'output',
      ]),
    ),
    {},
    'Prices in cents for a million tokens, by model or provider/model. They replace the published prices.',
    { merge: 'by-key', workspace: 'never' },
  ),
  'model.skipLoopDetection': setting(boolean, false, 'Continue when the model repeats itself.', {
    also: ['skipLoopDetection'],
    workspace: 'tighten',
    strictness: [false, true],
  }),
};
