import { basename } from 'node:path';
import { describePort } from '@lathe/core/host';
import { useEffect, useMemo, useRef } from 'react';
import { shownMode } from '../command-line/approval-modes.js';
import { reportWarnings } from '../command-line/warnings.js';
import type { Completer } from '../completion/completer.js';
import { type HistoryItem, renderItem } from '../render/history-item.js';
import { oneLine } from '../render/lines.js';
import { toolNames } from '../render/tool-names.js';
import type { ViewContext } from '../render/view-context.js';
import { Column, Scrollback, Text } from '../screen/elements.js';
import { useLend } from '../screen/screen.js';
import type { EarlyKey } from '../screen/use-answer-keys.js';
import { statusLine } from './live-lines.js';
import { LivePart } from './live-part.js';
import { Prompt } from './prompt/prompt.js';
import { PromptInput } from './prompt/prompt-input.js';
import { Confirmation } from './questions/confirmation-view.js';
import { FieldView } from './questions/field-view.js';
import { ListView } from './questions/list-view.js';
import type { PendingQuestion } from './questions/question-queue.js';
import type { ScreenState } from './screen-state.js';
import { useExpandedResults } from './use-expanded-results.js';
import { useHeight } from './use-height.js';
import { useNotifications } from './use-notifications.js';
import { type SessionProps, useSession } from './use-session.js';
import { useTerminalSize } from './use-terminal-size.js';

export interface AppProps extends Omit<SessionProps, 'draft'> {
  markdown: ViewContext['markdown'];
  isScreenReader: boolean;
  greeting: string;
  /** A resumed conversation. */
  past: readonly HistoryItem[];
  completer: Completer;
  initialPrompt?: string;
  /** Looks for more tools; returns a line for each source that has none to give. */
  discover: () => Promise<string[]>;
  /** Opens the person's editor; `undefined` if the editor failed. */
  editText: (text: string, name: string) => Promise<string | undefined>;
}

/** A window of this height has an empty line above the prompt, where the spinner is during work. */
const minRoomyRows = 20;

export function App(props: AppProps) {
  const { lathe, driver, queue, io, style, sandbox, markdown, isScreenReader, completer } = props;
  const { columns, rows } = useTerminalSize(io.terminal);
  const prompt = useRef(new Prompt(completer)).current;
  const session = useSession({ ...props, draft: (beginning) => prompt.draft(wholeInput(beginning, props)) });
  const { screen, mode, add, promptContext, question, hint } = session;
  const status = { model: driver.name, mode: shownMode(mode), sandbox: sandbox.text };
  useStart(props, session);
  const editText = useEditor(props);
  useNotifications(io.terminal, {
    project: basename(lathe.workspace.root),
    isBusy: screen.isBusy,
    hasQuestion: question !== undefined && !isOwn(question),
    settings: lathe.settings.ui,
  });
  const context = useMemo<ViewContext>(
    () => ({ style, width: Math.max(10, columns - 1), markdown, isScreenReader, toolName: toolNames(lathe.tools) }),
    [style, columns, markdown, isScreenReader, lathe],
  );
  const { isExpanded } = useExpandedResults(screen, context, add);
  const [below, belowHeight] = useHeight(columns);
  const hasGap = rows >= minRoomyRows && !question && !screen.isBusy && !isScreenReader;
  // One line stays free, because a full screen scrolls.
  const live = { screen, context, isExpanded, background: lathe.subagents.background, rows: rows - belowHeight - 1 };

  return (
    <>
      <Scrollback items={screen.items} textOf={(item) => renderItem(item, context)} />
      {question ? null : <LivePart {...live} />}
      <Column ref={below}>
        {hasGap ? <Text> </Text> : null}
        {question ? (
          <Question
            question={question}
            pendingCount={queue.length}
            context={context}
            rows={rows - 2}
            editText={editText}
            onEarlyKey={(input, key) => {
              // The person was typing when the question appeared.
              if (!key.escape && !key.ctrl && !key.tab) prompt.press(input, key, promptContext);
            }}
          />
        ) : (
          <PromptInput
            prompt={prompt}
            completer={completer}
            context={promptContext}
            style={style}
            width={columns}
            isScreenReader={isScreenReader}
            editText={editText}
            placeholder={placeholderOf(driver, screen)}
          />
        )}
        {isScreenReader && hint === undefined ? null : (
          <Text>{hint === undefined ? statusLine(screen, status, context) : oneLine(hint, context.width)}</Text>
        )}
      </Column>
    </>
  );
}

/** Gives the terminal to the editor while it is open. */
function useEditor({ editText }: AppProps): AppProps['editText'] {
  const lend = useLend();
  return (text, name) => lend(() => editText(text, name));
}

/** The input of this directory that begins like this. */
function wholeInput(beginning: string, { history }: AppProps): string {
  return history.inputs.findLast((input) => input.trim().startsWith(beginning)) ?? beginning;
}

/** Once, when the screen appears. */
function useStart(
  { lathe, greeting, past, loaded, initialPrompt, discover }: AppProps,
  { print, add, promptContext }: ReturnType<typeof useSession>,
): void {
  useEffect(() => {
    print(greeting);
    if (past.length > 0) void loaded.then(() => past.forEach(add));
    const warn = (text: string) => add({ type: 'notice', level: 'warning', text });
    const stopWarnings = reportWarnings(warn);
    lathe.background.onPort = ({ id }, port) =>
      add({ type: 'notice', level: 'info', text: `${id} can be opened at ${describePort(port)}` });
    // After the first frame, because servers may start slowly.
    void discover().then((lines) => lines.forEach(warn));
    if (initialPrompt !== undefined) promptContext.onSubmit({ shown: initialPrompt, text: initialPrompt });
    return stopWarnings;
  }, []);
}

interface QuestionProps {
  question: PendingQuestion;
  pendingCount: number;
  context: ViewContext;
  rows: number;
  editText: AppProps['editText'];
  onEarlyKey: EarlyKey;
}

/** The person opened this list. */
function isOwn(question: PendingQuestion): boolean {
  return question.type === 'list' && !question.question.isModels;
}

/** Each question gets its own view through `key`, so that no state passes to the next one. */
function Question({ question, pendingCount, context, rows, editText, onEarlyKey }: QuestionProps) {
  if (question.type === 'list')
    return (
      <ListView
        key={question.id}
        pending={question}
        context={context}
        rows={rows}
        {...(!isOwn(question) && { onEarlyKey })}
      />
    );
  if (question.type === 'field')
    return <FieldView key={question.id} pending={question} context={context} rows={rows} />;
  return (
    <Confirmation
      key={question.id}
      request={question.request}
      canExplain={question.type === 'approval'}
      pendingCount={pendingCount}
      context={context}
      rows={rows}
      answer={question.answer}
      modify={editorFor(question, editText)}
      onEarlyKey={onEarlyKey}
    />
  );
}

function editorFor(
  question: Extract<PendingQuestion, { type: 'approval' | 'consent' }>,
  editText: AppProps['editText'],
) {
  const { confirmation } = question.request;
  if (confirmation.type !== 'edit' || confirmation.newContent === undefined) return undefined;
  const { newContent, fileName } = confirmation;
  const modify = async () => {
    const content = await editText(newContent, fileName);
    if (content !== undefined) question.answer({ outcome: 'modify', content });
  };
  return () => void modify();
}

/** The console has no conversation that a message could be added to. */
function placeholderOf(driver: AppProps['driver'], { isBusy }: ScreenState): string {
  return isBusy && driver.conversation ? 'Type a message for the next step.' : driver.placeholder;
}
