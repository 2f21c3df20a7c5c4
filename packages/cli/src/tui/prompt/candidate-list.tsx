import type { Candidate } from '../../completion/completions.js';
import { truncateStart } from '../../render/lines.js';
import type { Style } from '../../render/style.js';
import { Column, Text } from '../../screen/elements.js';

interface CandidateListProps {
  candidates: readonly Candidate[];
  /** The candidate that Enter accepts; `undefined` if Enter sends. */
  selected: number | undefined;
  style: Style;
  width: number;
}

/** The completion candidates, one per line. */
export function CandidateList({ candidates, selected, style, width }: CandidateListProps) {
  const labelWidth = Math.max(...candidates.map(({ label }) => label.length)) + 2;
  return (
    <Column>
      {candidates.map(({ label, detail }, index) => {
        const isSelected = index === selected;
        // The end of a path is more useful than its beginning.
        const shown = detail === undefined ? truncateStart(label, width - 2) : label.padEnd(labelWidth);
        return (
          <Text key={label} isTruncated>
            {(isSelected ? `${style.accent('›')} ${style.accent(shown)}` : `  ${shown}`) + style.dim(detail ?? '')}
          </Text>
        );
      })}
    </Column>
  );
}
