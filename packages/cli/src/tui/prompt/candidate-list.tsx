import { type Candidate, maxCandidates } from '../../completion/completions.js';
import { truncateStart } from '../../render/lines.js';
import type { Style } from '../../render/style.js';
import { choiceLines } from '../../screen/choice-list.js';
import { Text } from '../../screen/elements.js';

interface CandidateListProps {
  candidates: readonly Candidate[];
  /** The candidate that Enter accepts; `undefined` if Enter sends. */
  selected: number | undefined;
  style: Style;
  width: number;
}

/** The completion candidates, one per line. */
export function CandidateList({ candidates, selected = -1, style, width }: CandidateListProps) {
  // The end of a path is more useful than its beginning.
  const choices = candidates.map(({ label, detail }) =>
    detail === undefined ? { label: truncateStart(label, width - 2) } : { label, detail },
  );
  const layout = { style, width, rows: maxCandidates + 1, isNumbered: false };
  return <Text>{choiceLines(choices, selected, layout).join('\n')}</Text>;
}
