import type { ViewContext } from '../../render/view-context.js';
import { Column } from '../../screen/elements.js';
import { Picker } from '../../screen/picker.js';
import type { EarlyKey } from '../../screen/use-answer-keys.js';
import type { PendingQuestion } from './question-queue.js';

export interface ListViewProps {
  pending: Extract<PendingQuestion, { type: 'list' }>;
  context: ViewContext;
  /** Available lines. */
  rows: number;
  /** Missing if the person opened the list. */
  onEarlyKey?: EarlyKey;
}

/** A list to choose from, in a frame. */
export function ListView({ pending: { question, answer }, context, rows, onEarlyKey }: ListViewProps) {
  const { style, isScreenReader } = context;
  const { takesText = false, isModels: _, ...list } = question;
  const picker = (
    <Picker
      {...list}
      {...(takesText && { other: (text: string) => text })}
      style={style}
      width={Math.max(8, context.width - (isScreenReader ? 0 : 4))}
      rows={rows - (isScreenReader ? 0 : 2)}
      isScreenReader={isScreenReader}
      {...(onEarlyKey && { onEarlyKey })}
      onDone={answer}
    />
  );
  return isScreenReader ? (
    picker
  ) : (
    <Column frame={style.isPlain ? 'plain' : 'round'} paint={style.dim}>
      {picker}
    </Column>
  );
}
