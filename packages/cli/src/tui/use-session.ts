import type { AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import type { HistoryItem } from '../render/history-item.js';
import type { Style } from '../render/style.js';
import { useExit } from '../screen/screen.js';
import type { SlashCommand } from '../slash/slash-command.js';
import type { InputHistory } from './prompt/input-history.js';
import type { Input } from './prompt/prompt.js';
import type { QuestionQueue } from './questions/question-queue.js';
import { runSlashCommand } from './run-slash-command.js';
import { useAgentStream } from './use-agent-stream.js';
import { useEscape, useSessionKeys } from './use-session-keys.js';

export interface SessionProps {
  lathe: AgentLathe;
  driver: Driver;
  queue: QuestionQueue;
  io: Io;
  style: Style;
  history: InputHistory;
  /** All slash commands; servers may add more later. */
  commands: () => readonly SlashCommand[];
  /** Resolves when answers can be drawn. */
  loaded: Promise<void>;
}

/** The state of the conversation and the handlers for input. */
export function useSession(props: SessionProps) {
  const { lathe, driver, queue, io, style, history, commands, loaded } = props;
  const exit = useExit();
  const { screen, send, follow } = useAgentStream(loaded);
  const [mode, setMode] = useState(lathe.policy.mode);
  const work = useRef<AbortController | undefined>(undefined);
  const queued = useRef<Input[]>([]);
  const question = useSyncExternalStore(
    (listener) => queue.onChange(listener),
    () => queue.current,
  );
  const add = useCallback((item: HistoryItem) => send({ type: 'add', item }), [send]);
  const print = useCallback((text: string) => add({ type: 'output', text }), [add]);
  const clearScreen = useCallback(() => send({ type: 'clear' }), [send]);

  const start = async (input: Input): Promise<void> => {
    const { signal } = (work.current = new AbortController());
    const context = { lathe, driver, io, style, signal, print, clearScreen, commands: commands(), quit: exit };
    if (input.text.startsWith('/')) await runSlashCommand(input, context, { send, follow });
    else await follow(input.shown, driver.submit(input.text, signal));
    work.current = undefined;
    setMode(lathe.policy.mode);
  };

  /** Input that arrives during work is queued. */
  const enter = async (input: Input): Promise<void> => {
    history.add(input.shown);
    if (work.current) {
      queued.current.push(input);
      print(style.dim(`(queued) ${visibleText(input.shown)}`));
    } else for (let next: Input | undefined = input; next; next = queued.current.shift()) await start(next);
  };

  const cancel = () => {
    queued.current = [];
    work.current?.abort();
    return work.current !== undefined;
  };
  // However the screen closes, even with the terminal, the work behind it stops.
  useLayoutEffect(() => () => void cancel(), []);
  const onEscape = useEscape(cancel, () => void enter({ shown: '/rewind', text: '/rewind' }));
  useSessionKeys({
    policy: lathe.policy,
    hasQuestion: question !== undefined,
    cancel,
    onMode: () => setMode(lathe.policy.mode),
    onIdleInterrupt: () => print(style.dim('Press Ctrl+C again to quit.')),
  });

  return {
    screen,
    mode,
    print,
    add,
    question,
    promptContext: {
      history: history.inputs,
      isBusy: screen.isBusy,
      onSubmit: (input: Input) => void enter(input),
      onEscape,
      onQuit: exit,
    },
  };
}
