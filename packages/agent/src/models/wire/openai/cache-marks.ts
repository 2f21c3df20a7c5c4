import type { Endpoint } from '../wire-format.js';

/** A message of Chat Completions. */
export type ChatMessage = { role: string; content: unknown; [key: string]: unknown };

/** Models that cache a conversation only up to marks in it. The others do it by themselves, or not at all. */
export function needsCacheMarks({ provider, model }: Pick<Endpoint, 'provider' | 'model'>): boolean {
  return provider === 'dashscope' || (provider === 'openrouter' && /claude|qwen/i.test(model));
}

/**
 * Marks the instructions and the newest two messages of a person or a tool: the older one was the newest last time, so
 * its beginning is cached already.
 */
export function withCacheMarks(messages: readonly ChatMessage[]): ChatMessage[] {
  const newest = messages.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  return messages.map((message) =>
    message.role === 'system' || newest.includes(message) ? { ...message, content: marked(message.content) } : message,
  );
}

const mark = { cache_control: { type: 'ephemeral' } };

function marked(content: unknown): unknown {
  if (typeof content === 'string') return content === '' ? content : [{ type: 'text', text: content, ...mark }];
  if (!Array.isArray(content)) return content;
  return content.map((item: object, index) => (index === content.length - 1 ? { ...item, ...mark } : item));
}
