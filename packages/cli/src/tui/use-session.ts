import { type ApprovalMode, visibleText } from '@lathe/core';
import { useApp, useInput } from 'ink';
import { useCallback, useRef, useState, useSyncExternalStore } from 'react';
import { findSlashCommand } from '../slash/slash-commands.js';
import type { AppProps } from './app.js';
import type { Driver } from './driver.js';
import { useAgentStream } from './use-agent-stream.js';

/** What Shift+Tab goes through. Yolo has to be asked for by name. */
const modes: ApprovalMode[] = ['default', 'auto-edit', 'plan'];
/** A second Ctrl+C within this time leaves. */
const leaveMs = 2000;

/** The conversation: what is on the screen, what a person has typed, and what their keys do to it. */
export function useSession({
  lathe,
  driver,
  queue,
  io,
  style,
}: Pick<AppProps, 'lathe' | 'driver' | 'queue' | 'io' | 'style'>) {
  const { exit } = useApp();
  const { screen, send, follow } = useAgentStream();
  const [mode, setMode] = useState(lathe.policy.mode);
  const [inputs, setInputs] = useState<string[]>([]);
  const work = useRef<AbortController | undefined>(undefined);
  const interruptedAt = useRef(Number.NEGATIVE_INFINITY);
  const question = useSyncExternalStore(
    (listener) => queue.onChange(listener),
    () => queue.current,
  );
  const say = useCallback((text: string) => send({ type: 'add', item: { type: 'output', text } }), [send]);

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
    if (input.trim() === '/compact') return run(input, (signal) => driver.compact(signal));
    return input.startsWith('/') ? obey(input) : run(input, (signal) => driver.submit(input, signal));
  };

  const interrupt = () => {
    if (performance.now() - interruptedAt.current < leaveMs) exit();
    interruptedAt.current = performance.now();
    if (work.current) work.current.abort();
    else say(style.dim('Ctrl+C again to leave.'));
  };

  useInput((input, key) => {
    if (key.ctrl && input === 'c') return interrupt();
    if (question) return undefined;
    if (key.escape) return work.current?.abort();
    if (!(key.tab && key.shift)) return undefined;
    lathe.policy.mode = modes[(modes.indexOf(lathe.policy.mode) + 1) % modes.length] ?? 'default';
    return setMode(lathe.policy.mode);
  });

  return { screen, mode, inputs, say, submit, question, isAsked: question !== undefined };
}
