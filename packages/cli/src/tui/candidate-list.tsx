import { Box, Text } from 'ink';
import type { Candidate } from '../completion/completion.js';
import type { Style } from '../render/style.js';

interface CandidateListProps {
  candidates: readonly Candidate[];
  /** The one that Enter would take; none when Enter sends. */
  chosen: number | undefined;
  style: Style;
}

/** What could be put in, one line each. */
export function CandidateList({ candidates, chosen, style }: CandidateListProps) {
  const width = Math.max(...candidates.map(({ label }) => label.length)) + 2;
  return (
    <Box flexDirection="column">
      {candidates.map(({ label, detail }, index) => {
        const isChosen = index === chosen;
        const text = detail === undefined ? label : `${label.padEnd(width)}${style.dim(detail)}`;
        // The end of a path says more than its beginning.
        return (
          <Text key={label} wrap={detail === undefined ? 'truncate-start' : 'truncate-end'}>
            {isChosen ? `${style.accent('›')} ${style.accent(label)}${text.slice(label.length)}` : `  ${text}`}
          </Text>
        );
      })}
    </Box>
  );
}
