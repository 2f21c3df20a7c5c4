import { useEffect, useMemo, useRef } from 'react';
import type { Completer } from '../completion/completer.js';
import { renderItem } from '../render/history-item.js';
import type { ViewContext } from '../render/view-context.js';
import { Column, Past, Text } from '../screen/elements.js';
import { statusLine } from './live-lines.js';
import { LivePart } from './live-part.js';
import { Prompt } from './prompt/prompt.js';
import { PromptInput } from './prompt/prompt-input.js';
import { Confirmation } from './questions/confirmation-view.js';
import { FieldView } from './questions/field-view.js';
import type { Waiting } from './questions/question-queue.js';
import { useOpenCards } from './use-expanded-results.js';
import { useHeight } from './use-height.js';
import { type SessionProps, useSession } from './use-session.js';
import { useTerminalSize } from './use-terminal-size.js';

export interface AppProps extends SessionProps {
  sandbox: string;
  markdown: ViewContext['markdown'];
  /** For a screen reader. */
  isSpoken: boolean;
  greeting: string;
  completer: Completer;
  initialPrompt?: string;
  /** Lets the person rewrite a text; `undefined` when they did not. */
  editText: (text: string, name: string) => Promise<string | undefined>;
}

export function App(props: AppProps) {
  const { lathe, driver, queue, io, style, sandbox, markdown, isSpoken, greeting, initialPrompt, editText, completer } =
    props;
  const { columns, rows } = useTerminalSize(io.terminal);
  const { screen, mode, say, add, world, isAsked, question } = useSession(props);
  const prompt = useRef(new Prompt(completer)).current;
  const context = useMemo<ViewContext>(
    () => ({ style, width: Math.max(10, columns - 1), markdown, isSpoken }),
    [style, columns, markdown, isSpoken],
  );
  const { isTall } = useOpenCards(screen, context, add);
  const [below, belowHeight] = useHeight(columns);

  useEffect(() => {
    say(greeting);
    if (initialPrompt !== undefined) world.onSubmit({ shown: initialPrompt, text: initialPrompt });
    // Once, when the screen first appears.
  }, []);

  return (
    <>
      <Past items={screen.items} textOf={(item) => renderItem(item, context)} />
      {isAsked ? null : (
        // One line stays free: a screen that is full to the last line scrolls.
        <LivePart screen={screen} context={context} rows={rows - belowHeight - 1} isTall={isTall} />
      )}
      <Column ref={below}>
        {question ? (
          <Question
            question={question}
            isTrusted={lathe.loaded.isTrusted}
            waiting={queue.length}
            context={context}
            rows={rows - 2}
            editText={editText}
          />
        ) : (
          <PromptInput
            prompt={prompt}
            completer={completer}
            world={world}
            style={style}
            width={columns}
            placeholder={screen.isBusy ? '' : driver.placeholder}
          />
        )}
        {isSpoken ? null : <Text>{statusLine(screen, { model: driver.name, mode, sandbox }, context)}</Text>}
      </Column>
    </>
  );
}

interface QuestionProps {
  question: Waiting;
  isTrusted: boolean;
  waiting: number;
  context: ViewContext;
  rows: number;
  editText: AppProps['editText'];
}

/** Each question is a view of its own, so that nothing of one is left when the next one comes. */
function Question({ question, isTrusted, waiting, context, rows, editText }: QuestionProps) {
  if (question.type === 'field')
    return <FieldView key={question.id} waiting={question} context={context} rows={rows} />;
  return (
    <Confirmation
      key={question.id}
      request={question.request}
      mayExplain={question.type === 'approval'}
      isTrusted={isTrusted}
      waiting={waiting}
      context={context}
      rows={rows}
      answer={question.answer}
      modify={modifier(question, editText)}
    />
  );
}

function modifier(question: Exclude<Waiting, { type: 'field' }>, editText: AppProps['editText']) {
  const { confirmation } = question.request;
  if (confirmation.type !== 'edit' || confirmation.newContent === undefined) return undefined;
  const { newContent, fileName } = confirmation;
  const modify = async () => {
    const content = await editText(newContent, fileName);
    if (content !== undefined) question.answer({ outcome: 'modify', content });
  };
  return () => void modify();
}
