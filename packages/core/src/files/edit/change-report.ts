import { basename } from 'node:path';
import { diffLines } from '../../text/line-diff.js';
import { spelledPlaces, splitKeepingBreaks } from '../../text/unified-diff.js';
import { firstFew, hiddenPlaces } from '../../text/visible-text.js';
import type { Location, Workspace } from '../workspace.js';
import type { Snapshot } from '../write/file-snapshot.js';
import type { ChangeView, TextChange } from './change-view.js';
import { applySplices } from './splice.js';

/** The whole text before and after; `undefined` when it is large, or decoding and encoding would change it. */
type Texts = { oldText: string; newText: string } | undefined;

/** Files above this size are neither opened in an editor nor kept in results. */
const maxKept = 1 << 20;

/** The texts of a change, see `Texts`. */
export function textsOf({ text, splices }: TextChange): Texts {
  const { bytes, codec } = text;
  const newSize = splices.reduce(
    (size, { start, end, bytes: fresh }) => size + fresh.length - (end - start),
    bytes.length,
  );
  if (Math.max(bytes.length, newSize) > maxKept) return undefined;
  const [oldText, newText] = [codec.decode(bytes), codec.decode(Buffer.concat(applySplices(bytes, splices)))];
  return codec.encode(oldText)?.equals(bytes) ? { oldText, newText } : undefined;
}

/** The question to a person before a file is changed. */
export function confirmChange(
  workspace: Workspace,
  change: { tool: string; title: string; asked: string; location: Location; current: Snapshot | null },
  view: ChangeView,
  texts: Texts,
) {
  const { location, current } = change;
  const warnings = warningsOf(change, view);
  const isSeen = !view.isCut && hiddenIn(change, view).length === 0;
  const isGuarded = location.guarded !== undefined || location.secret !== undefined;
  return {
    type: 'edit' as const,
    title: `Confirm ${change.title}: ${workspace.display(location.path)}`,
    ...namesOf(location.path),
    fileDiff: view.diff,
    ...(texts && { originalContent: current && texts.oldText, newContent: texts.newText }),
    ...(warnings.length > 0 && { warnings }),
    // "Always" is not offered for a change that was not shown completely, nor for a guarded path.
    ...(isSeen && !isGuarded && { rules: [ruleFor(workspace, change.tool, location)] }),
  };
}

function warningsOf(
  change: { asked: string; location: Location; current: Snapshot | null },
  view: ChangeView,
): string[] {
  const { location, current } = change;
  const warnings: string[] = [];
  if (location.guarded !== undefined) warnings.push(location.guarded);
  if (location.secret !== undefined) warnings.push(location.secret);
  if (!location.inside) warnings.push(`${location.path} is outside the workspace`);
  // A line of its own could pass for a part of the question.
  const asked = change.asked.replaceAll('\n', '\\n');
  if (change.asked !== location.path && location.inside) warnings.push(`${asked} leads to ${location.path}`);
  if (current !== null && current.otherNames > 0) warnings.push(hardLinkNote(current));
  const hidden = hiddenIn(change, view);
  if (hidden.length > 0)
    warnings.push(`It contains invisible or control characters, spelled out here: ${firstFew(hidden)}`);
  if (view.isCut) warnings.push('The change is too large to be shown in full');
  return warnings;
}

/** The invisible characters in the path and the change. */
function hiddenIn({ asked }: { asked: string }, { diff }: ChangeView): string[] {
  return [...hiddenPlaces(asked).map((place) => `${place} of the path`), ...spelledPlaces(diff)];
}

export function hardLinkNote({ otherNames }: Snapshot): string {
  const names =
    otherNames === 1 ? 'another name (a hard link), which keeps' : `${otherNames} other names (hard links), which keep`;
  return `The file has ${names} the old content`;
}

function ruleFor({ root }: Workspace, tool: string, { path }: Location): string {
  const isInProject = path.startsWith(`${root}/`);
  return isInProject ? `${tool}(/**)` : `${tool}(/${path.replace(/[*?[\]!\\]/g, '\\$&')})`;
}

/** The change for a front end. `proposed` is what the model wanted, when a person changed it. */
export async function displayChange(
  path: string,
  { current, view, texts, proposed }: { current: Snapshot | null; view: ChangeView; texts: Texts; proposed?: string },
) {
  const isRewritten = proposed !== undefined && texts !== undefined;
  const model = isRewritten ? await countChange(texts.oldText, proposed) : view;
  const user = isRewritten ? await countChange(proposed, texts.newText) : nothing;
  return {
    type: 'file_diff' as const,
    ...namesOf(path),
    fileDiff: view.diff,
    ...(texts && { originalContent: current && texts.oldText, newContent: texts.newText }),
    diffStat: {
      model_added_lines: model.addedLines,
      model_removed_lines: model.removedLines,
      model_added_chars: model.addedChars,
      model_removed_chars: model.removedChars,
      user_added_lines: user.addedLines,
      user_removed_lines: user.removedLines,
      user_added_chars: user.addedChars,
      user_removed_chars: user.removedChars,
    },
  };
}

const nothing = { addedLines: 0, removedLines: 0, addedChars: 0, removedChars: 0 };

async function countChange(before: string, after: string) {
  const [a, b] = [splitKeepingBreaks(before), splitKeepingBreaks(after)];
  const counts = { ...nothing };
  for (const { oldStart, oldEnd, newStart, newEnd } of await diffLines(a, b)) {
    counts.removedLines += oldEnd - oldStart;
    counts.addedLines += newEnd - newStart;
    counts.removedChars += a.slice(oldStart, oldEnd).join('').length;
    counts.addedChars += b.slice(newStart, newEnd).join('').length;
  }
  return counts;
}

function namesOf(path: string): { fileName: string; filePath: string } {
  return { fileName: basename(path), filePath: path };
}
