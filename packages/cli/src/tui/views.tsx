import { Box, Text } from 'ink';
import { renderDisplay } from '../render/card.js';
import type { Style } from '../render/style.js';
import type { CallView, HistoryItem, ScreenState } from './screen-state.js';

export interface ViewContext {
  style: Style;
  width: number;
  /** Markdown as styled text; plain until the renderer is loaded. */
  markdown: (text: string, width: number) => string;
}

export function Item({ item, context }: { item: HistoryItem; context: ViewContext }) {
  const { style, width, markdown } = context;
  switch (item.type) {
    case 'prompt':
      return <Text>{`\n${style.accent('❯')} ${style.bold(item.text)}`}</Text>;
    case 'answer':
      return <Text>{`\n${markdown(item.text, width)}`}</Text>;
    case 'call':
      return <Card call={item.call} context={context} now={0} />;
    case 'notice':
      return <Text>{item.level === 'warning' ? style.warning(`! ${item.text}`) : style.dim(item.text)}</Text>;
    case 'output':
      return <Text>{item.text}</Text>;
  }
}

const marks = {
  validating: '○',
  awaiting_approval: '?',
  scheduled: '○',
  executing: '●',
  success: '✓',
  error: '✗',
  cancelled: '–',
} as const;

export function Card({ call, context, now }: { call: CallView; context: ViewContext; now: number }) {
  const { style } = context;
  const paint = call.status === 'success' ? style.success : call.status === 'error' ? style.failure : style.accent;
  const seconds = ((call.durationMs ?? Math.max(0, now - call.startedAt)) / 1000).toFixed(1);
  const isOver = call.durationMs !== undefined;
  const body = call.error ?? renderDisplay(call.display, style, { fromEnd: !isOver });
  return (
    <Box flexDirection="column">
      <Text>{`${paint(marks[call.status])} ${style.bold(call.name)} ${call.description} ${style.dim(`${seconds} s`)}`}</Text>
      {body === '' ? null : (
        <Box paddingLeft={2}>
          <Text>{call.error === undefined ? body : style.failure(body)}</Text>
        </Box>
      )}
    </Box>
  );
}

export interface StatusFields {
  model: string;
  mode: string;
  sandbox: string;
}

export function StatusLine({ screen, fields, style }: { screen: ScreenState; fields: StatusFields; style: Style }) {
  const share = screen.contextWindow > 0 ? Math.round((100 * screen.contextTokens) / screen.contextWindow) : 0;
  const parts = [
    fields.model,
    `${fields.mode} mode (shift+tab)`,
    fields.sandbox,
    ...(screen.contextWindow > 0 ? [`context ${share} %`] : []),
    ...(screen.tokens > 0 ? [`${screen.tokens} tokens`] : []),
    ...(screen.cost === undefined ? [] : [`${(screen.cost / 100).toFixed(2)} $`]),
  ];
  return <Text wrap="truncate-end">{style.dim(parts.join(' · '))}</Text>;
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function Spinner({ screen, now, style }: { screen: ScreenState; now: number; style: Style }) {
  const seconds = Math.floor((now - screen.startedAt) / 1000);
  const frame = frames[Math.floor(now / 100) % frames.length] ?? '';
  const doing = screen.retry ?? (screen.isThinking ? 'thinking' : 'working');
  return <Text>{`${style.accent(frame)} ${style.dim(`${doing} · ${seconds} s · esc to cancel`)}`}</Text>;
}
