import { AgreedRules, loadSettings, unagreedRules } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import type { Io } from '../command-line/io.js';
import { latheHome } from './open-lathe.js';

/** Allow rules in a folder's settings that the person has not approved yet. */
export async function newRules(io: Io): Promise<{ rules: string[]; approve: () => Promise<void> }> {
  const store = new AgreedRules(new LatheHome(latheHome(io)));
  const agreed = await store.of(io.cwd);
  const { ignored } = await loadSettings({
    home: io.home,
    latheHome: latheHome(io),
    root: io.cwd,
    isTrusted: true,
    isAgreed: (rule) => agreed.has(rule),
    env: io.env,
  });
  const rules = [
    ...new Set(unagreedRules(ignored).flatMap(({ written }) => (typeof written === 'string' ? written : []))),
  ];
  return { rules, approve: () => store.add(io.cwd, rules) };
}
