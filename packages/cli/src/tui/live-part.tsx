import type { ViewContext } from '../render/view-context.js';
import { Text } from '../screen/elements.js';
import { liveLines, spinnerLine, waitingLines } from './live-lines.js';
import type { ScreenState } from './screen-state.js';
import { useClock } from './use-agent-stream.js';

export interface LivePartProps {
  screen: ScreenState;
  context: ViewContext;
  rows: number;
  isExpanded: boolean;
}

/** The current work. It has its own clock, so that the spinner does not redraw the rest. */
export function LivePart({ screen, context, rows, isExpanded }: LivePartProps) {
  const now = useClock(screen.isBusy && !context.isScreenReader);
  if (context.isScreenReader) return null;
  const spinner = screen.isBusy ? [spinnerLine(screen, context, now), ...waitingLines(screen, context)] : [];
  const lines = [...liveLines(screen, context, { now, isExpanded, rows: rows - spinner.length }), ...spinner];
  return lines.length === 0 ? null : <Text>{lines.join('\n')}</Text>;
}
