import type { Hooks } from '@lathe/core/host';
import type { ContextSource, ContextText } from '../loop/agent-options.js';

/** Looks for tools, and returns what went wrong, by source. */
type Discover = (signal: AbortSignal) => Promise<Map<string, unknown>>;

/** Looks for the tools of commands and servers before the first prompt, if the program has not done so. */
export function withDiscovery(files: ContextSource, discoverOnce: Discover): ContextSource {
  const discovered = async (read: () => Promise<ContextText>): Promise<ContextText> => {
    const failures = await discoverOnce(new AbortController().signal);
    const { text, notices } = await read();
    const problems = [...failures].map(([source, error]) => ({
      level: 'warning' as const,
      message: `${source}: ${error instanceof Error ? error.message : String(error)}`,
    }));
    return { text, notices: [...problems, ...notices] };
  };
  return {
    get loaded() {
      return files.loaded;
    },
    opening: () => discovered(() => files.opening()),
    changed: () => discovered(() => files.changed()),
    touched: (args) => files.touched(args),
  };
}

/** Puts the output of SessionStart hooks before the files. */
export function withSessionStart(files: ContextSource, hooks: Hooks | undefined): ContextSource {
  if (!hooks) return files;
  return {
    get loaded() {
      return files.loaded;
    },
    changed: () => files.changed(),
    touched: (args) => files.touched(args),
    async opening(): Promise<ContextText> {
      const { context, notices } = await hooks.sessionStart('startup', new AbortController().signal);
      const loaded = await files.opening();
      return {
        text: [context, loaded.text].filter(Boolean).join('\n'),
        notices: [...notices.map((message) => ({ level: 'warning' as const, message })), ...loaded.notices],
      };
    },
  };
}
