import { ToolError } from '../contract/errors.js';
import { pathOf } from './file-uri.js';
import { field } from './problem.js';

interface Edit {
  start: number;
  end: number;
  newText: string;
}

const maxFiles = 200;

/** What a rename does to the text of each file. Whatever is not a plain change of text in the workspace is refused. */
export function renameEdits(
  answer: unknown,
  isInside: (path: string) => boolean,
): ReadonlyMap<string, (text: string) => string> {
  const byFile = listsIn(answer);
  if (byFile.length === 0) throw new ToolError('execution_failed', 'This cannot be renamed.');
  if (byFile.length > maxFiles) throw new ToolError('execution_failed', `The rename is in over ${maxFiles} files.`);
  return new Map(
    byFile.map(([uri, edits]) => {
      const path = pathOf(uri);
      if (path === undefined || !isInside(path))
        throw new ToolError('execution_failed', `The rename would change ${String(uri)}, outside the workspace.`);
      return [path, (text: string) => applied(text, edits)];
    }),
  );
}

function listsIn(answer: unknown): [uri: unknown, edits: readonly unknown[]][] {
  const listed = field(answer, 'documentChanges');
  if (!Array.isArray(listed))
    return Object.entries(field(answer, 'changes') ?? {}).flatMap(([uri, edits]: [string, unknown]) =>
      Array.isArray(edits) ? [[uri, edits]] : [],
    );
  return listed.map((entry: unknown) => {
    const edits = field(entry, 'edits');
    if (!Array.isArray(edits)) throw new ToolError('execution_failed', 'The rename would also move files.');
    return [field(field(entry, 'textDocument'), 'uri'), edits];
  });
}

/** The text with all edits made, from the end so that earlier places stay right. */
function applied(text: string, edits: readonly unknown[]): string {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const offsetOf = (position: unknown): number => {
    const [line, character] = [Number(field(position, 'line')), Number(field(position, 'character'))];
    const start = starts[line];
    const end = starts[line + 1] ?? text.length + 1;
    if (start === undefined || !(character >= 0) || start + character >= end) throw mismatch();
    return start + character;
  };
  const all = edits.map((edit): Edit => {
    const [range, newText] = [field(edit, 'range'), field(edit, 'newText')];
    if (typeof newText !== 'string') throw mismatch();
    return { start: offsetOf(field(range, 'start')), end: offsetOf(field(range, 'end')), newText };
  });
  let result = text;
  let last = Number.POSITIVE_INFINITY;
  for (const { start, end, newText } of all.sort((a, b) => b.start - a.start)) {
    if (start > end || end > last) throw mismatch();
    result = result.slice(0, start) + newText + result.slice(end);
    last = start;
  }
  return result;
}

function mismatch(): ToolError {
  return new ToolError('execution_failed', 'The rename does not fit the file as it is now. Try again.');
}
