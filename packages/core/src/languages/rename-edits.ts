import { ToolError } from '../contract/errors.js';
import { visibleText } from '../text/visible-text.js';
import type { LanguageServers } from './language-servers.js';
import { field, pathOf, positionOf } from './protocol.js';

const maxFiles = 200;

/** What a rename does to the text of each file. Whatever is not a plain change of text in the workspace is refused. */
export function renameEdits(answer: unknown, servers: LanguageServers): ReadonlyMap<string, (text: string) => string> {
  const lists = listsIn(answer);
  if (lists.length === 0) throw refusal('This cannot be renamed.');
  if (lists.length > maxFiles) throw refusal(`The rename is in over ${maxFiles} files.`);
  const files = new Map<string, (text: string) => string>();
  for (const [uri, edits] of lists) {
    const path = pathOf(uri);
    if (path === undefined || !servers.isInside(path))
      throw refusal(`The rename would change ${visibleText(String(uri))}, outside the workspace.`);
    if (files.has(path)) throw refusal(`The rename would change ${visibleText(path)} twice.`);
    files.set(path, (text) => applied(text, edits));
  }
  return files;
}

function listsIn(answer: unknown): [uri: unknown, edits: readonly unknown[]][] {
  const listed = field(answer, 'documentChanges');
  if (!Array.isArray(listed))
    return Object.entries(field(answer, 'changes') ?? {}).flatMap(([uri, edits]: [string, unknown]) =>
      Array.isArray(edits) ? [[uri, edits]] : [],
    );
  return listed.map((entry: unknown) => {
    const edits = field(entry, 'edits');
    if (!Array.isArray(edits)) throw refusal('The rename would also move files.');
    return [field(field(entry, 'textDocument'), 'uri'), edits];
  });
}

/** The text with all edits made, from the end so that earlier places stay right. */
function applied(text: string, edits: readonly unknown[]): string {
  const ends = [...text.matchAll(/\r\n|\r|\n|$/g)];
  const starts = [0, ...ends.map(({ 0: lineBreak, index }) => index + lineBreak.length)];
  const offsetOf = (position: unknown): number => {
    const { line, character } = positionOf(position) ?? { line: -1, character: -1 };
    const offset = (starts[line] ?? Number.NaN) + character;
    return character >= 0 && offset <= (ends[line]?.index ?? -1) ? offset : Number.NaN;
  };
  const ordered = edits
    .map((edit) => {
      const [range, newText] = [field(edit, 'range'), field(edit, 'newText')];
      return { start: offsetOf(field(range, 'start')), end: offsetOf(field(range, 'end')), newText };
    })
    .sort((a, b) => b.start - a.start);
  let result = text;
  let last = text.length;
  for (const { start, end, newText } of ordered) {
    if (typeof newText !== 'string' || !(start <= end && end <= last))
      throw refusal('The rename does not fit the file as it is now. Try again.');
    result = result.slice(0, start) + newText + result.slice(end);
    last = start;
  }
  return result;
}

function refusal(message: string): ToolError {
  return new ToolError('execution_failed', message);
}
