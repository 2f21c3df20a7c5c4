import type { AgentLathe } from '@lathe/agent';
import { useSyncExternalStore } from 'react';
import type { ViewContext } from '../render/view-context.js';
import { Text } from '../screen/elements.js';
import { liveLines, spinnerLine, waitingLines } from './live-lines.js';
import type { ScreenState } from './screen-state.js';
import { taskLines } from './task-lines.js';
import { useClock } from './use-agent-stream.js';

export interface LivePartProps {
  screen: ScreenState;
  /** What works in the background. */
  background: Pick<AgentLathe['subagents']['background'], 'list' | 'onChange'>;
  context: ViewContext;
  rows: number;
  isExpanded: boolean;
}

/** The current work. It has its own clock, so that the spinner does not redraw the rest. */
export function LivePart({ screen, background, context, rows, isExpanded }: LivePartProps) {
  const tasks = useSyncExternalStore(
    (listener) => background.onChange(listener),
    () => background.list(),
  );
  const isAtWork = tasks.some(({ endedAt }) => endedAt === undefined);
  const now = useClock((screen.isBusy || isAtWork) && !context.isScreenReader);
  if (context.isScreenReader) return null;
  const spinner = screen.isBusy ? [spinnerLine(screen, context, now), ...waitingLines(screen, context)] : [];
  const below = [...spinner, ...taskLines(tasks, context, now)].slice(0, Math.max(1, rows));
  const lines = [...liveLines(screen, context, { now, isExpanded, rows: rows - below.length }), ...below];
  return lines.length === 0 ? null : <Text>{lines.join('\n')}</Text>;
}
