import { AgreedRules, LatheHome, loadSettings, unagreedRules } from '@lathe/core';
import type { Io } from '../command-line/io.js';
import { latheHome } from './open-lathe.js';

/** Allow rules in the settings of a trusted folder that nobody has agreed to, and how to do so. */
export async function newRules(io: Io): Promise<{ rules: string[]; agree: () => Promise<void> }> {
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
  return { rules, agree: () => store.add(io.cwd, rules) };
}
