import { visibleText } from '@lathe/core';
import { useApp } from 'ink';
import { useCallback, useRef, useState, useSyncExternalStore } from 'react';
import { findSlashCommand } from '../slash/slash-commands.js';
import type { AppProps } from './app.js';
import type { Driver } from './driver.js';
import type { HistoryItem } from './screen-state.js';
import { useAgentStream } from './use-agent-stream.js';
import { useSessionKeys } from './use-session-keys.js';

/** The conversation: what is on the screen, what a person has typed, and what their keys do to it. */
export function useSession(props: Pick<AppProps, 'lathe' | 'driver' | 'queue' | 'io' | 'style'>) {
  const { lathe, driver, queue, io, style } = props;
  const { exit } = useApp();
  const { screen, send, follow } = useAgentStream();
  const [mode, setMode] = useState(lathe.policy.mode);
  const [inputs, setInputs] = useState<string[]>([]);
  const work = useRef<AbortController | undefined>(undefined);
  const queued = useRef<string[]>([]);
  const question = useSyncExternalStore(
    (listener) => queue.onChange(listener),
    () => queue.current,
  );
  const add = useCallback((item: HistoryItem) => send({ type: 'add', item }), [send]);
  const say = useCallback((text: string) => add({ type: 'output', text }), [add]);

  const clearScreen = useCallback(() => send({ type: 'clear' }), [send]);

  const run = async (prompt: string, start: (signal: AbortSignal) => ReturnType<Driver['submit']>) => {
    const controller = new AbortController();
    work.current = controller;
    await follow(prompt, start(controller.signal));
    work.current = undefined;
    setMode(lathe.policy.mode);
  };

  const obey = async (input: string) => {
    send({ type: 'add', item: { type: 'prompt', text: visibleText(input) } });
    const { command, name, argument } = findSlashCommand(input);
    if (!command) return say(`There is no command /${visibleText(name)}; /help lists them.`);
    const { signal } = new AbortController();
    await command.run(argument, { lathe, driver, io, style, signal, say, clearScreen, quit: () => exit() });
    return setMode(lathe.policy.mode);
  };

  const submit = async (input: string): Promise<void> => {
    setInputs((all) => [...all, input]);
    await start(input);
    for (let next = queued.current.shift(); next !== undefined; next = queued.current.shift()) await start(next);
  };

  /** While something runs, what is typed waits its turn. */
  const enqueue = (input: string) => {
    setInputs((all) => [...all, input]);
    queued.current.push(input);
    say(style.dim(`(next) ${visibleText(input)}`));
  };

  const start = (input: string): Promise<void> => {
    if (input.trim() === '/compact') return run(input, (signal) => driver.compact(signal));
    return input.startsWith('/') ? obey(input) : run(input, (signal) => driver.submit(input, signal));
  };

  const cancel = () => {
    queued.current = [];
    work.current?.abort();
    return work.current !== undefined;
  };
  useSessionKeys({
    policy: lathe.policy,
    isAsked: question !== undefined,
    cancel,
    onMode: () => setMode(lathe.policy.mode),
    onIdleInterrupt: () => say(style.dim('Ctrl+C again to leave.')),
  });

  const enter = (input: string) => (work.current ? enqueue(input) : void submit(input));

  return { screen, mode, inputs, say, add, enter, question, isAsked: question !== undefined };
}
