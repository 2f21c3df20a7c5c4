import {
  describeRule,
  FolderRules,
  type ListedRule,
  projectSettings,
  saveSetting,
  userSettings,
  visibleText,
} from '@lathe/core/host';
import { approvalModes, describeMode, modeNamed, shownMode } from '../command-line/approval-modes.js';
import type { SlashContext } from './slash-command.js';

type PermissionContext = Pick<SlashContext, 'lathe' | 'print' | 'style'>;
type Lathe = SlashContext['lathe'];

/** `/approval-mode` explains the modes, or sets one. */
export async function setMode(argument: string, { lathe, print, style }: PermissionContext): Promise<void> {
  const mode = modeNamed(argument);
  if (argument !== '' && mode === undefined)
    return print(`  Unknown mode. Use one of: ${approvalModes.map(shownMode).join(', ')}`);
  if (mode !== undefined) lathe.policy.mode = mode;
  const hasSandbox = (await lathe.sandbox.status()).kind !== 'none';
  const shown = mode === undefined ? approvalModes : [mode];
  const lines = shown.map((name) => {
    const mark = name === lathe.policy.mode ? style.accent('❯') : ' ';
    return `  ${mark} ${shownMode(name).padEnd(8)} ${style.dim(describeMode(name, { hasSandbox }))}`;
  });
  return print(lines.join('\n'));
}

/** `/permissions` lists the rules with where they come from; `/permissions remove N` removes one. */
export async function managePermissions(argument: string, context: PermissionContext): Promise<void> {
  const { lathe, print, style } = context;
  const rules = numbered(lathe.policy);
  const folder = new FolderRules(lathe.home);
  const own = await folder.of(lathe.workspace.root);
  const [, wanted = ''] = /^remove\s+(\S+)$/.exec(argument) ?? [];
  if (wanted !== '')
    return removeRule(
      rules.find(({ number }) => number === Number(wanted)),
      context,
    );
  if (argument !== '') return print('  Use /permissions, or /permissions remove NUMBER.');
  if (rules.length === 0) return print(`  No rules. Answer a question with "always", or see docs/settings.md.`);
  const width = String(rules.at(-1)?.number ?? 0).length;
  const lines = rules.map((rule) => {
    const { list, text } = rule;
    const number = String(rule.number).padStart(width);
    const spelling = style.dim(
      `${oneLine(text)}  (${own.has(text) ? visibleText(folder.path) : originOf(rule, lathe)})`,
    );
    return `  ${number}  ${list.padEnd(5)} ${oneLine(describeRule(text))}\n  ${' '.repeat(width + 8)}${spelling}`;
  });
  return print([...lines, style.dim('  /permissions remove NUMBER removes one.')].join('\n'));
}

/** What has been listed, by its number. A rule keeps its number when another one is removed. */
const listed = new WeakMap<Lathe['policy'], string[]>();

function numbered(policy: Lathe['policy']): (ListedRule & { number: number })[] {
  const known = listed.get(policy) ?? [];
  listed.set(policy, known);
  return policy
    .listRules()
    .map((rule) => {
      const key = `${rule.list} ${rule.text}`;
      const at = known.indexOf(key);
      return { ...rule, number: at === -1 ? known.push(key) : at + 1 };
    })
    .toSorted((a, b) => a.number - b.number);
}

const oneLine = (text: string) => visibleText(text.replace(/\s+/g, ' '));

/** The settings in which a list of rules can be written. */
const keysOf: Readonly<Record<ListedRule['list'], readonly [string, string][]>> = {
  allow: [
    ['permissions', 'allow'],
    ['tools', 'allowed'],
  ],
  ask: [['permissions', 'ask']],
  deny: [
    ['permissions', 'deny'],
    ['tools', 'exclude'],
  ],
};

/** Where a rule is written: files, a variable or a flag. */
function sourcesOf({ list, text }: ListedRule, { loaded }: Lathe): string[] {
  return keysOf[list].flatMap((key) =>
    (loaded.origins.get(key.join('.')) ?? []).flatMap(({ source, written }) => {
      const rules = Array.isArray(written) ? written : [];
      return rules.some((rule) => isRule(rule, text)) ? [source] : [];
    }),
  );
}

const isRule = (value: unknown, text: string) => typeof value === 'string' && value.trim() === text;

function originOf(rule: ListedRule, lathe: Lathe): string {
  if (rule.scope === 'session') return 'this session';
  if (rule.scope !== undefined) return visibleText(fileOf(rule.scope, lathe).path);
  return visibleText(sourcesOf(rule, lathe).join(', ')) || 'settings';
}

function fileOf(scope: 'project' | 'user', { home, workspace }: Lathe) {
  return scope === 'user' ? userSettings(home) : projectSettings(workspace.root);
}

async function removeRule(rule: ListedRule | undefined, { lathe, print }: PermissionContext): Promise<void> {
  if (rule === undefined) return print('  There is no rule with that number. /permissions lists them.');
  const { list, text } = rule;
  if (list === 'allow') await new FolderRules(lathe.home).remove(lathe.workspace.root, text);
  const known = new Set([
    ...sourcesOf(rule, lathe),
    ...(rule.scope && rule.scope !== 'session' ? [fileOf(rule.scope, lathe).path] : []),
  ]);
  const own = (['user', 'project'] as const).map((scope) => fileOf(scope, lathe)).filter(({ path }) => known.has(path));
  for (const file of own)
    for (const key of keysOf[list])
      await saveSetting(lathe.home, file, key, (current) =>
        Array.isArray(current) ? current.filter((other) => !isRule(other, text)) : current,
      );
  lathe.policy.revoke(rule);
  const left = [...known].filter((source) => !own.some(({ path }) => path === source));
  const later = left.length === 0 ? '' : ` The next start brings it back from: ${left.join(', ')}.`;
  return print(`  Removed: ${oneLine(describeRule(text))}.${visibleText(later)}`);
}
