import type { AgentEvent, AgentLathe } from '@lathe/agent';
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import type { HistoryItem } from '../render/history-item.js';
import type { Style } from '../render/style.js';
import { useExit } from '../screen/screen.js';
import type { SlashCommand, SlashContext } from '../slash/slash-command.js';
import { endAfterNo } from './end-after-no.js';
import type { InputHistory } from './prompt/input-history.js';
import type { Input } from './prompt/prompt.js';
import type { QuestionQueue } from './questions/question-queue.js';
import { runSlashCommand } from './run-slash-command.js';
import { useAgentStream } from './use-agent-stream.js';
import { useEscape, useSessionKeys } from './use-session-keys.js';

export type SandboxStatus = Awaited<ReturnType<AgentLathe['sandbox']['status']>>;

export interface SessionProps {
  lathe: AgentLathe;
  driver: Driver;
  queue: QuestionQueue;
  sandbox: SandboxStatus;
  io: Io;
  style: Style;
  history: InputHistory;
  /** All slash commands; servers may add more later. */
  commands: () => readonly SlashCommand[];
  /** Resolves when answers can be drawn. */
  loaded: Promise<void>;
  draft: SlashContext['draft'];
}

/** The state of the conversation and the handlers for input. */
export function useSession(props: SessionProps) {
  const { lathe, queue, history } = props;
  const exit = useExit();
  const { screen, send, follow } = useAgentStream(props.loaded);
  // An answer to a plan changes the mode too, so it is read each time.
  const [, setMode] = useState(lathe.policy.mode);
  const question = useSyncExternalStore(
    (listener) => queue.onChange(listener),
    () => queue.current,
  );
  const add = useCallback((item: HistoryItem) => send({ type: 'add', item }), [send]);
  const print = useCallback((text: string) => add({ type: 'output', text }), [add]);

  const { enter, work, drop } = useWork(props, { send, follow, add, print, onEnd: () => setMode(lathe.policy.mode) });

  const cancel = () => {
    drop();
    work.current?.abort();
    return work.current !== undefined;
  };
  // However the screen closes, even with the terminal, the work behind it stops.
  useLayoutEffect(() => () => work.current?.abort(), []);
  const onEscape = useEscape(cancel, () => void enter({ shown: '/rewind', text: '/rewind' }));
  const hint = useSessionKeys({
    policy: lathe.policy,
    hasSandbox: props.sandbox.kind !== 'none',
    cancel,
    onMode: () => setMode(lathe.policy.mode),
  });

  return {
    screen,
    mode: lathe.policy.mode,
    hint,
    print,
    add,
    question,
    promptContext: {
      history: history.inputs,
      isBusy: screen.isBusy,
      onSubmit: (input: Input) => {
        history.add(input.shown);
        void enter(input);
      },
      onDiscard: (text: string) => history.add(text),
      onEscape,
      onQuit: exit,
    },
  };
}

async function* nothing(): AsyncGenerator<AgentEvent> {}

interface WorkTools extends Pick<ReturnType<typeof useAgentStream>, 'send' | 'follow'> {
  add: (item: HistoryItem) => void;
  print: (text: string) => void;
  onEnd: () => void;
}

/** Runs one input after the other. */
function useWork(props: SessionProps, { send, follow, add, print, onEnd }: WorkTools) {
  const { queue, driver } = props;
  const quit = useExit();
  const work = useRef<AbortController | undefined>(undefined);
  const queued = useRef<Input[]>([]);

  const start = async (input: Input | 'reports'): Promise<void> => {
    const controller = new AbortController();
    work.current = controller;
    const { signal } = controller;
    const stream = {
      send,
      follow: (prompt: string, events: AsyncIterable<AgentEvent>) => follow(prompt, endAfterNo(events, controller)),
    };
    const context: SlashContext = {
      ...props,
      commands: props.commands(),
      signal,
      print,
      show: (items) => items.forEach(add),
      clearScreen: () => send({ type: 'clear' }),
      choose: (list) => queue.choose(list, signal),
      quit,
    };
    if (input === 'reports') await stream.follow('[report of a background task]', driver.hear?.(signal) ?? nothing());
    else if (input.text.startsWith('/')) await runSlashCommand(input, context, stream);
    else await stream.follow(input.shown, driver.submit(input.text, signal));
    work.current = undefined;
    onEnd();
  };

  /** Input that arrives during work reaches the model with its next request. What is not for the model waits. */
  const enter = async (input: Input): Promise<void> => {
    const current = work.current;
    if (!current) {
      for (let next: Input | undefined = input; next; next = queued.current.shift()) await start(next);
      await hear();
      return;
    }
    send({ type: 'wait', prompt: input.shown });
    // The work was cancelled before this was typed, so it is not dropped with the work.
    if (current.signal.aborted) return void queued.current.push(input);
    const isDelivered = await driver.steer?.(input.text, current.signal).catch(() => false);
    if (isDelivered) send({ type: 'deliver', prompt: input.shown });
    else if (current.signal.aborted) return;
    else if (work.current) queued.current.push(input);
    else await enter(input);
  };

  /** Lets the model work on reports that arrived while it was idle. */
  const hear = async (): Promise<void> => {
    while (work.current === undefined && driver.hasMessages) await start('reports');
    const next = work.current ? undefined : queued.current.shift();
    if (next) await enter(next);
  };
  useEffect(() => driver.onMessage?.(() => void hear()), [driver]);

  const drop = () => {
    queued.current = [];
    send({ type: 'drop' });
  };
  return { enter, work, drop };
}
