import { realpathSync } from 'node:fs';
import type { LatheHome } from '../files/lathe-home.js';
import type { Workspace } from '../files/workspace.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { Policy } from '../policy/policy.js';
import { kindOfSpec, parseRule } from '../policy/rule.js';
import type { Settings } from '../settings/keys.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import { projectSettings, saveSetting, userSettings } from '../settings/save-setting.js';
import type { WorktreeOrigin } from './lathe.js';

interface PolicyPlace {
  workspace: Workspace;
  home: LatheHome;
  userHome: string;
  worktree?: WorktreeOrigin | undefined;
}

/** The policy that the settings ask for; "always" for the project or the user is saved in their settings. */
export async function openPolicy(
  { settings, mayLackRestrictions }: Pick<LoadedSettings, 'settings' | 'mayLackRestrictions'>,
  { workspace, home, userHome, worktree }: PolicyPlace,
): Promise<Policy> {
  const { permissions, tools } = settings;
  const project = worktree?.directory ?? workspace.root;
  const restrictions = [...permissions.ask, ...permissions.deny, ...tools.exclude];
  const wrong = await disproved(permissions, restrictions);
  const isCounted = (rule: string) => !wrong.has(rule);
  const policy = new Policy({
    mode: tools.approvalMode,
    isCautious: mayLackRestrictions,
    rules: {
      allow: permissions.allow.filter(isCounted),
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
      const file = scope === 'user' ? userSettings(home) : projectSettings(project);
      await saveSetting(home, file, ['permissions', 'allow'], (current) => union(current, rules));
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
        ? [`"${text}" is no rule about commands that stands in a list.`]
        : checkRuleExamples(spec, own, { isRestriction }).map((problem) => `${problem} ${outcome}`);
    if (problems.length > 0)
      wrong.set(
        text,
        problems.map((problem) => `permissions.examples: ${problem}`),
      );
  }
  return wrong;
}

function union(current: JsonValue | undefined, added: readonly string[]): JsonValue {
  return [...new Set([...(Array.isArray(current) ? current : []), ...added])];
}

/** What is judged are real paths, and a home directory may be a link. */
function realHome(home: string): string {
  try {
    return realpathSync.native(home);
  } catch {
    return home;
  }
}
