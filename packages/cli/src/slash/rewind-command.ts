import type { RewindPoint, Session } from '@lathe/agent';
import { type RestoreOutcome, type RestorePlan, visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

type Context = Pick<SlashContext, 'driver' | 'print' | 'signal' | 'choose' | 'draft'>;
type Rewindable = Pick<Session, 'points' | 'previewRewind' | 'rewind'>;

const maxFiles = 30;
const usage = 'Use /rewind to choose a prompt, /rewind N both, files or conversation, or /rewind redo.';

const choices: Readonly<Record<string, { conversation: boolean; files: boolean }>> = {
  both: { conversation: true, files: true },
  files: { conversation: false, files: true },
  conversation: { conversation: true, files: false },
};

/** `/rewind` lets the person choose a prompt and what to bring back; `/rewind N both` goes back at once. */
export async function rewind(argument: string, context: Context): Promise<void> {
  const { driver, print } = context;
  const session = driver.conversation?.rewind;
  if (!session) return print('  Only a saved conversation can be rewound.');
  const [given = '', choice = '', ...more] = argument.split(/\s+/);
  const number = given || (await choosePoint(session.points, context));
  if (number === undefined) return undefined;
  const point = pointAt(session.points, number);
  if (!isPart(choice) || more.length > 0) return print(`  ${usage}`);
  if (!point) return print(`  There is nothing to go back to under ${visibleText(number)}. ${usage}`);
  const fixed = choice === '' && number === 'redo' ? 'both' : choice;
  const wanted = fixed === '' ? await chooseParts(session, point, context) : fixed;
  return wanted === undefined ? undefined : goBack(session, point, wanted, context);
}

function isPart(choice: string): boolean {
  return choice === '' || Object.hasOwn(choices, choice);
}

function pointAt(points: readonly RewindPoint[], number: string): RewindPoint | undefined {
  return number === 'redo' ? points.findLast(({ type }) => type === 'rewind') : points[Number(number) - 1];
}

async function choosePoint(points: readonly RewindPoint[], { choose, print }: Context): Promise<string | undefined> {
  if (points.length === 0) {
    print('  There is no prompt to go back to yet.');
    return undefined;
  }
  const list = points.map(({ type, text, before }, index) => ({
    label: visibleText(type === 'rewind' ? `(went back to: ${beginning(text)})` : beginning(text)),
    detail: before ? '' : 'no files changed',
    value: `${index + 1}`,
  }));
  return choose({ title: 'Go back to the state before which prompt?', choices: list, initial: list.length - 1 });
}

function beginning(text: string): string {
  const [line = '', ...more] = text.split('\n');
  return line.length > 70 || more.length > 0 ? `${line.slice(0, 70)} …` : line;
}

/** Shows what would change, and asks which part of it should. */
async function chooseParts(
  session: Rewindable,
  point: RewindPoint,
  { print, choose, signal }: Context,
): Promise<string | undefined> {
  const plan = await session.previewRewind(point, signal);
  print(
    describe(plan)
      .map((line) => visibleText(`  ${line}`))
      .join('\n'),
  );
  const list = [
    { label: 'Both', detail: 'files and conversation', value: 'both' },
    { label: 'Files', detail: 'the conversation continues', value: 'files' },
    { label: 'Conversation', detail: 'the files stay as they are', value: 'conversation' },
  ];
  return choose({ title: 'What should go back?', choices: list });
}

function describe({ files, left }: RestorePlan): string[] {
  const changes = files.map(({ path, action, lines, guarded }) => {
    const counts = lines ? ` (+${lines.added} -${lines.removed})` : '';
    return `${action.padEnd(6)} ${path}${counts}${guarded === undefined ? '' : `  ! ${guarded}`}`;
  });
  const title = files.length === 0 ? 'No files would change.' : `${countOf(files.length)} would change:`;
  return [title, ...atMost(changes), ...leftLines(left)];
}

function leftLines(left: readonly { path: string; reason: string }[]): string[] {
  if (left.length === 0) return [];
  return ['Left as they are:', ...atMost(left.map(({ path, reason }) => `       ${path}: ${reason}`))];
}

function atMost(lines: readonly string[]): string[] {
  const more = lines.length - maxFiles;
  return more > 0 ? [...lines.slice(0, maxFiles), `       (${more} more)`] : [...lines];
}

function moment({ type, text }: RewindPoint): string {
  return type === 'rewind' ? 'you went back.' : `the prompt: ${beginning(text)}`;
}

async function goBack(
  session: Rewindable,
  point: RewindPoint,
  part: string,
  { print, signal, draft }: Context,
): Promise<void> {
  const what = choices[part] ?? { conversation: true, files: true };
  const outcomes = await session.rewind(point, what, signal);
  const left = outcomes.filter((each): each is Extract<RestoreOutcome, { status: 'left' }> => each.status === 'left');
  const lines = [
    ...(what.conversation ? [`The conversation is as it was before ${moment(point)}`] : []),
    ...(what.files ? [`Restored: ${countOf(outcomes.length - left.length)}.`, ...leftLines(left)] : []),
    '/rewind redo takes this back.',
  ];
  print(lines.map((line) => visibleText(`  ${line}`)).join('\n'));
  // Most people go back to say it differently.
  if (what.conversation && point.type !== 'rewind') draft(point.text);
}

const countOf = (files: number) => (files === 1 ? '1 file' : `${files} files`);
