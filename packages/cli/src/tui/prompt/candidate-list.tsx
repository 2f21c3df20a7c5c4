import type { Candidate } from '../../completion/completions.js';
import { cutStart } from '../../render/lines.js';
import type { Style } from '../../render/style.js';
import { Column, Text } from '../../screen/elements.js';

interface CandidateListProps {
  candidates: readonly Candidate[];
  /** The one that Enter would take; none when Enter sends. */
  chosen: number | undefined;
  style: Style;
  width: number;
}

/** What could be put in, one line each. */
export function CandidateList({ candidates, chosen, style, width }: CandidateListProps) {
  const labelWidth = Math.max(...candidates.map(({ label }) => label.length)) + 2;
  return (
    <Column>
      {candidates.map(({ label, detail }, index) => {
        const isChosen = index === chosen;
        // The end of a path says more than its beginning.
        const shown = detail === undefined ? cutStart(label, width - 2) : label.padEnd(labelWidth);
        return (
          <Text key={label} isCut>
            {(isChosen ? `${style.accent('›')} ${style.accent(shown)}` : `  ${shown}`) + style.dim(detail ?? '')}
          </Text>
        );
      })}
    </Column>
  );
}
