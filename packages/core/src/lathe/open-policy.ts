import { realHome } from '../files/access/home-places.js';
import { AgreedRules, FolderRules } from '../policy/agreed-rules.js';
import { Policy } from '../policy/policy.js';
import { kindOfSpec, parseRule } from '../policy/rule.js';
import type { Settings } from '../settings/keys.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import { projectSettings, saveSetting, userSettings } from '../settings/save-setting.js';
import type { OpenedParts } from './extension.js';
import type { WorktreeOrigin } from './lathe.js';

interface PolicyPlace extends Pick<OpenedParts, 'workspace' | 'home' | 'userHome'> {
  worktree?: WorktreeOrigin | undefined;
}

/** The policy that the settings ask for; "always" is saved in the settings of the user or of a trusted project. */
export async function openPolicy(
  { settings, mayLackRestrictions, isTrusted }: Pick<LoadedSettings, 'settings' | 'mayLackRestrictions' | 'isTrusted'>,
  { workspace, home, userHome, worktree }: PolicyPlace,
): Promise<Policy> {
  const { permissions, tools } = settings;
  const project = worktree?.directory ?? workspace.root;
  const restrictions = [...permissions.ask, ...permissions.deny, ...tools.exclude];
  const wrong = await disproved(permissions, restrictions);
  const isCounted = (rule: string) => !wrong.has(rule);
  const own = new FolderRules(home);
  const policy = new Policy({
    mode: tools.approvalMode,
    isCautious: mayLackRestrictions,
    rules: {
      allow: [...permissions.allow.filter(isCounted), ...(await own.of(project))],
      ask: permissions.ask,
      deny: [...permissions.deny, ...tools.exclude],
    },
    allowed: tools.allowed,
    ...(tools.core && { core: tools.core }),
    bases: {
      home: realHome(userHome),
      root: workspace.root,
      cwd: workspace.root,
      ...(worktree && { copy: { of: worktree.top, at: worktree.copyTop } }),
    },
    save: async (rules, scope) => {
      if (scope === 'project' && !isTrusted) return own.add(project, rules);
      const file = scope === 'user' ? userSettings(home) : projectSettings(project);
      await saveSetting(home, file, ['permissions', 'allow'], (current) => [
        ...new Set([...(Array.isArray(current) ? current : []), ...rules]),
      ]);
      if (scope === 'project') await new AgreedRules(home).add(project, rules);
    },
  });
  policy.problems.push(...[...wrong.values()].flat());
  return policy;
}

/** Rules whose own examples show that they mean something else, with what is wrong. */
async function disproved(
  { examples, allow }: Settings['permissions'],
  restrictions: readonly string[],
): Promise<Map<string, string[]>> {
  const wrong = new Map<string, string[]>();
  if (Object.keys(examples).length === 0) return wrong;
  // With the first example only: it brings the grammar of bash along.
  const { checkRuleExamples } = await import('../process/rules/rule-examples.js');
  for (const [text, own] of Object.entries(examples)) {
    const rule = parseRule(text);
    const spec = typeof rule !== 'string' && kindOfSpec(rule.tool) === 'command' ? rule.spec : undefined;
    const isRestriction = restrictions.includes(text);
    const outcome = isRestriction ? 'It still restricts.' : 'It allows nothing until you fix it.';
    const problems =
      spec === undefined || !(isRestriction || allow.includes(text))
        ? [`"${text}" is not a command rule in one of the lists.`]
        : checkRuleExamples(spec, own, { isRestriction }).map((problem) => `${problem} ${outcome}`);
    if (problems.length > 0)
      wrong.set(
        text,
        problems.map((problem) => `permissions.examples: ${problem}`),
      );
  }
  return wrong;
}
