import { realpathSync } from 'node:fs';
import type { LatheHome } from '../files/lathe-home.js';
import type { Workspace } from '../files/workspace.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { Policy } from '../policy/policy.js';
import type { Settings } from '../settings/keys.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import { projectSettings, saveSetting, userSettings } from '../settings/save-setting.js';

/** The policy that the settings ask for; "always" for the project or the user is saved in their settings. */
export function openPolicy(
  settings: Settings,
  { workspace, home, userHome }: { workspace: Workspace; home: LatheHome; userHome: string },
): Policy {
  const { permissions, tools } = settings;
  return new Policy({
    mode: tools.approvalMode,
    rules: { allow: permissions.allow, ask: permissions.ask, deny: [...permissions.deny, ...tools.exclude] },
    allowed: tools.allowed,
    ...(tools.core && { core: tools.core }),
    bases: { home: realHome(userHome), root: workspace.root, cwd: workspace.root },
    save: async (rules, scope) => {
      const file = scope === 'user' ? userSettings(home) : projectSettings(workspace.root);
      await saveSetting(home, file, ['permissions', 'allow'], (current) => union(current, rules));
      if (scope === 'project') await new AgreedRules(home).add(workspace.root, rules);
    },
  });
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
