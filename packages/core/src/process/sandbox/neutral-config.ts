/** One variable of a git configuration file: section and key in lower case, as git compares them. */
interface Variable {
  /** `section.key` or `section.subsection.key`, with `*` for the subsection. */
  name: string;
  subsection: string;
  value: string;
}

/** Variables that neither run a program nor lead git to other files or servers. */
const neutral = new Set([
  'user.name',
  'user.email',
  'init.defaultbranch',
  'pull.rebase',
  'pull.ff',
  'push.default',
  'branch.*.remote',
  'branch.*.merge',
  'branch.*.rebase',
  'branch.*.description',
  'branch.*.vscode-merge-base',
]);

/** What git writes into the configuration of a new repository, worktree or submodule. */
const initial = new Set([
  'core.repositoryformatversion',
  'core.filemode',
  'core.bare',
  'core.logallrefupdates',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.symlinks',
  'core.autocrlf',
  'core.eol',
  'remote.*.url',
  'remote.*.fetch',
  'remote.*.tagopt',
  'submodule.*.url',
  'submodule.*.active',
  'submodule.active',
  'extensions.objectformat',
  'extensions.refstorage',
  'extensions.partialclone',
  'remote.*.promisor',
  'remote.*.partialclonefilter',
]);

/** Whether a changed configuration differs from the one before only in what cannot do harm. */
export function isNeutralChange(before: string, after: string): boolean {
  const [old, now] = [parse(before), parse(after)];
  if (old === undefined || now === undefined) return false;
  const remotes = new Set(old.filter(({ name }) => name === 'remote.*.url').map(({ subsection }) => subsection));
  const changed = [...without(now, old), ...without(old, now)];
  return changed.every(
    ({ name, value }) => neutral.has(name) && (name !== 'branch.*.remote' || value === '.' || remotes.has(value)),
  );
}

/** Whether a new repository could have this configuration without anybody planting something. */
export function isInitialConfig(text: string, isOwnTree: (workTree: string) => boolean): boolean {
  const isKnown = ({ name, value }: Variable) =>
    name === 'core.worktree' ? isOwnTree(value) : neutral.has(name) || initial.has(name);
  return parse(text)?.every(isKnown) ?? false;
}

function without(some: readonly Variable[], others: readonly Variable[]): Variable[] {
  const known = new Set(others.map((variable) => JSON.stringify(variable)));
  return some.filter((variable) => !known.has(JSON.stringify(variable)));
}

const header = /^\s*\[([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]\s*$/;
const assignment = /^\s*([a-z][a-z0-9-]*)\s*(?:=\s*(.*?))?\s*$/i;

/** `undefined` for anything but one header or one assignment per line: git's grammar knows more, and so do attackers. */
function parse(text: string): Variable[] | undefined {
  const variables: Variable[] = [];
  let section: { name: string; subsection: string } | undefined;
  for (const line of text.split('\n')) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const head = header.exec(line);
    if (head !== null) {
      const [, name = '', subsection] = head;
      // `[branch.main]` is an old form of `[branch "main"]`.
      if (name.includes('.')) return undefined;
      section = { name: `${name.toLowerCase()}${subsection === undefined ? '' : '.*'}`, subsection: subsection ?? '' };
      continue;
    }
    const found = assignment.exec(line);
    if (found === null || section === undefined || line.endsWith('\\')) return undefined;
    const [, key = '', value = ''] = found;
    const { name, subsection } = section;
    variables.push({ name: `${name}.${key.toLowerCase()}`, subsection, value });
  }
  return variables;
}
