import type { Lathe } from '@lathe/core';
import { Box, Static, Text, useStdout } from 'ink';
import { useEffect } from 'react';
import type { Io } from '../io.js';
import type { Style } from '../render/style.js';
import { slashCommands } from '../slash/slash-commands.js';
import type { ApprovalQueue } from './approval-queue.js';
import { Confirmation } from './confirmation-view.js';
import type { Driver } from './driver.js';
import { PromptInput } from './prompt-input.js';
import { useClock } from './use-agent-stream.js';
import { useSession } from './use-session.js';
import { Card, Item, Spinner, StatusLine, type ViewContext } from './views.js';

export interface AppProps {
  lathe: Lathe;
  driver: Driver;
  queue: ApprovalQueue;
  io: Io;
  style: Style;
  sandbox: string;
  markdown: ViewContext['markdown'];
  greeting: string;
  initialPrompt?: string;
  /** Lets the person rewrite a text; `undefined` when they did not. */
  editText: (text: string, name: string) => Promise<string | undefined>;
}

/** Lines of what the model is writing that are kept in the live part. */
const liveLines = 12;

export function App(props: AppProps) {
  const { driver, queue, style, sandbox, greeting, initialPrompt, editText } = props;
  const { stdout } = useStdout();
  const { screen, mode, inputs, say, enter, isAsked, question } = useSession(props);
  const now = useClock(screen.isBusy);
  const context: ViewContext = { style, width: Math.max(10, (stdout.columns || 80) - 2), markdown: props.markdown };

  useEffect(() => {
    say(greeting);
    if (initialPrompt !== undefined) enter(initialPrompt);
    // Once, when the screen first appears.
  }, []);

  return (
    <>
      <Static items={[...screen.items]}>{(item, index) => <Item key={index} item={item} context={context} />}</Static>
      <Box flexDirection="column">
        {screen.liveText === '' ? null : <Text>{tail(screen.liveText)}</Text>}
        {screen.calls.map((call) => (
          <Card key={call.callId} call={call} context={context} now={now} />
        ))}
        {question ? (
          <Confirmation
            key={question.request.callId + question.request.description}
            request={question.request}
            waiting={queue.length}
            style={style}
            height={stdout.rows || 24}
            answer={question.answer}
            modify={modifier(question, editText)}
          />
        ) : null}
        {screen.isBusy && !isAsked ? <Spinner screen={screen} now={now} style={style} /> : null}
        {isAsked ? null : (
          <PromptInput
            style={style}
            placeholder={screen.isBusy ? '' : driver.placeholder}
            history={inputs}
            isActive={!isAsked}
            complete={(text) => complete(text, driver)}
            onSubmit={enter}
          />
        )}
        <StatusLine screen={screen} fields={{ model: driver.name, mode, sandbox }} style={style} />
      </Box>
    </>
  );
}

/** Only the end of a long answer is redrawn; the whole of it goes to the scrollback when it is complete. */
function tail(text: string): string {
  const lines = text.split('\n');
  return lines.length <= liveLines ? text : ['…', ...lines.slice(-liveLines)].join('\n');
}

function complete(text: string, driver: Driver): string[] {
  if (!text.startsWith('/')) return driver.complete(text);
  return slashCommands.map(({ name }) => `/${name}`).filter((name) => name.startsWith(text) && name !== text);
}

function modifier(question: NonNullable<ApprovalQueue['current']>, editText: AppProps['editText']) {
  const { confirmation } = question.request;
  if (confirmation.type !== 'edit' || confirmation.newContent === undefined) return undefined;
  const { newContent, fileName } = confirmation;
  const modify = async () => {
    const content = await editText(newContent, fileName);
    if (content !== undefined) question.answer({ outcome: 'modify', content });
  };
  return () => void modify();
}
