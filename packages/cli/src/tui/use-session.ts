import type { AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core';
import { useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import type { Style } from '../render/style.js';
import { useExit } from '../screen/screen.js';
import type { SlashCommand } from '../slash/slash-command.js';
import type { InputHistory } from './prompt/input-history.js';
import type { Input } from './prompt/prompt.js';
import type { QuestionQueue } from './questions/question-queue.js';
import { obeyCommand } from './run-slash-command.js';
import type { HistoryItem } from './screen-state.js';
import { useAgentStream } from './use-agent-stream.js';
import { useSessionKeys } from './use-session-keys.js';

export interface SessionProps {
  lathe: AgentLathe;
  driver: Driver;
  queue: QuestionQueue;
  io: Io;
  style: Style;
  history: InputHistory;
  /** Every slash command there is now. */
  commands: () => readonly SlashCommand[];
  /** Settles when answers can be drawn. */
  loaded: Promise<void>;
}

/** The conversation: what is on the screen, what a person has typed, and what their keys do to it. */
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
  const say = useCallback((text: string) => add({ type: 'output', text }), [add]);
  const clearScreen = useCallback(() => send({ type: 'clear' }), [send]);

  const start = async (input: Input): Promise<void> => {
    const { signal } = (work.current = new AbortController());
    const context = { lathe, driver, io, style, signal, say, clearScreen, commands: commands(), quit: exit };
    if (input.text.startsWith('/')) await obeyCommand(input, context, { send, follow });
    else await follow(input.shown, driver.submit(input.text, signal));
    work.current = undefined;
    setMode(lathe.policy.mode);
  };

  /** While something runs, what is typed waits its turn. */
  const enter = async (input: Input): Promise<void> => {
    history.add(input.shown);
    if (work.current) {
      queued.current.push(input);
      say(style.dim(`(next) ${visibleText(input.shown)}`));
    } else for (let next: Input | undefined = input; next; next = queued.current.shift()) await start(next);
  };

  const cancel = () => {
    queued.current = [];
    work.current?.abort();
    return work.current !== undefined;
  };
  // However the screen is left, by a terminal that is gone too, nothing goes on behind it.
  useLayoutEffect(() => () => void cancel(), []);
  useSessionKeys({
    policy: lathe.policy,
    isAsked: question !== undefined,
    cancel,
    onMode: () => setMode(lathe.policy.mode),
    onIdleInterrupt: () => say(style.dim('Ctrl+C again to leave.')),
  });

  return {
    screen,
    mode,
    say,
    add,
    question,
    isAsked: question !== undefined,
    world: {
      history: history.inputs,
      isBusy: screen.isBusy,
      onSubmit: (input: Input) => void enter(input),
      onEscape: () => void cancel(),
      onLeave: exit,
    },
  };
}
