import type { ViewContext } from '../render/view-context.js';
import { Text } from '../screen/elements.js';
import { liveLines, spinnerLine } from './live-lines.js';
import type { ScreenState } from './screen-state.js';
import { useClock } from './use-agent-stream.js';

export interface LivePartProps {
  screen: ScreenState;
  context: ViewContext;
  rows: number;
  isTall: boolean;
}

/** What is going on. It has a clock of its own, so that the rest is not redrawn with it. */
export function LivePart({ screen, context, rows, isTall }: LivePartProps) {
  const now = useClock(screen.isBusy && !context.isSpoken);
  if (context.isSpoken) return null;
  const spinner = screen.isBusy ? [spinnerLine(screen, context, now)] : [];
  const lines = [...liveLines(screen, context, { now, isTall, rows: rows - spinner.length }), ...spinner];
  return lines.length === 0 ? null : <Text>{lines.join('\n')}</Text>;
}
