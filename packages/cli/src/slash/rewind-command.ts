import type { RewindPoint, Session } from '@lathe/agent';
import { type RestoreOutcome, type RestorePlan, visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

type Context = Pick<SlashContext, 'driver' | 'print' | 'signal'>;
type Rewindable = Pick<Session, 'points' | 'previewRewind' | 'rewind'>;

const maxPoints = 20;
const maxFiles = 30;
const usage = '/rewind N shows what would change; /rewind N both, files or conversation goes back.';

const choices: Readonly<Record<string, { conversation: boolean; files: boolean }>> = {
  both: { conversation: true, files: true },
  files: { conversation: false, files: true },
  conversation: { conversation: true, files: false },
};

/** `/rewind` lists the prompts, `/rewind N` shows what going back would change, `/rewind N both` goes back. */
export async function rewind(argument: string, context: Context): Promise<void> {
  const { driver, print } = context;
  const session = driver.conversation?.rewind;
  if (!session) return print('  Only a saved conversation can be rewound.');
  const [, number = '', choice = ''] = /^(\d+|redo)?(?:\s+(\w+))?$/.exec(argument) ?? [];
  if (argument === '') return print(listed(session.points));
  const last = session.points.findLastIndex(({ type }) => type === 'rewind');
  const index = number === 'redo' ? last : Number(number) - 1;
  const point = session.points[index];
  const what = choices[number === 'redo' && choice === '' ? 'both' : choice];
  if (!point || (choice !== '' && !what)) return print(`  ${usage}`);
  return what ? goBack(session, point, what, context) : preview(session, point, index + 1, context);
}

function listed(points: readonly RewindPoint[]): string {
  if (points.length === 0) return '  There is no prompt to go back to yet.';
  const first = Math.max(0, points.length - maxPoints);
  const lines = points.slice(first).map(({ type, text, before }, at) => {
    const title = type === 'rewind' ? `(went back to: ${beginning(text)})` : beginning(text);
    return `${String(first + at + 1).padStart(3)}  ${title}${before ? '' : '  (no files changed)'}`;
  });
  const earlier = first > 0 ? [`     (${first} earlier ones can be given by number)`] : [];
  const advice = ['Going back to N means the state before N.', usage, '/rewind redo takes the last rewind back.'];
  return [...earlier, ...lines, ...advice].map((line) => visibleText(`  ${line}`)).join('\n');
}

function beginning(text: string): string {
  const [line = '', ...more] = text.split('\n');
  return line.length > 70 || more.length > 0 ? `${line.slice(0, 70)} …` : line;
}

async function preview(
  session: Rewindable,
  point: RewindPoint,
  number: number,
  { print, signal }: Context,
): Promise<void> {
  const plan = await session.previewRewind(point, signal);
  const next = `To go back, type /rewind ${number} both, /rewind ${number} files or /rewind ${number} conversation.`;
  print([...describe(plan), next].map((line) => visibleText(`  ${line}`)).join('\n'));
}

function describe({ files, left }: RestorePlan): string[] {
  const changes = files.map(({ path, action, lines, guarded }) => {
    const counts = lines ? ` (+${lines.added} -${lines.removed})` : '';
    return `${action.padEnd(6)} ${path}${counts}${guarded === undefined ? '' : `  ! ${guarded}`}`;
  });
  const title = files.length === 0 ? 'No files would change.' : `${files.length} files would change:`;
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
  what: { conversation: boolean; files: boolean },
  { print, signal }: Context,
): Promise<void> {
  const outcomes = await session.rewind(point, what, signal);
  const left = outcomes.filter((each): each is Extract<RestoreOutcome, { status: 'left' }> => each.status === 'left');
  const lines = [
    ...(what.conversation ? [`The conversation is as it was before ${moment(point)}`] : []),
    ...(what.files ? [`${outcomes.length - left.length} files were restored.`, ...leftLines(left)] : []),
    '/rewind redo takes this back.',
  ];
  print(lines.map((line) => visibleText(`  ${line}`)).join('\n'));
}
