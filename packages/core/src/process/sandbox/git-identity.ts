import { execFile } from 'node:child_process';
import { type Stats, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { secrecyOf } from '../../files/access/protected-paths.js';
import { trustedPath } from '../run/trusted-path.js';

export interface GitIdentityOptions {
  home: string;
  roots: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Where to write the configuration. */
  file: string;
}

/** A file and the place in the home directory where commands see it. */
export interface ShownFile {
  source: string;
  path: string;
}

/** Settings that name no program and no credential. Signing stays on, so that a commit without the key fails. */
const plainKeys = new Set(
  `user.name user.email user.signingkey author.name author.email committer.name committer.email commit.gpgsign
   tag.gpgsign gpg.format init.defaultbranch core.autocrlf core.eol core.safecrlf core.filemode core.ignorecase
   core.quotepath core.abbrev core.longpaths core.precomposeunicode core.excludesfile safe.directory pull.rebase pull.ff
   push.default push.autosetupremote fetch.prune merge.ff merge.conflictstyle rebase.autostash rebase.autosquash
   rerere.enabled diff.algorithm diff.renames status.showuntrackedfiles column.ui color.ui branch.autosetuprebase
   branch.sort tag.sort log.date help.autocorrect advice.detachedhead submodule.recurse feature.manyfiles
   index.version fetch.writecommitgraph`.split(/\s+/),
);

/** Without this filter, git would take the files that it manages for changed. */
const largeFileFilter: Readonly<Record<string, string>> = {
  'filter.lfs.clean': 'git-lfs clean -- %f',
  'filter.lfs.smudge': 'git-lfs smudge -- %f',
  'filter.lfs.process': 'git-lfs filter-process',
  'filter.lfs.required': 'true',
};

/**
 * The user's git configuration for sandboxed commands: who they are and how git treats files, without credentials and
 * programs. Read again when the file has changed.
 */
export class GitIdentity {
  readonly #options: GitIdentityOptions;
  #read: { version: string; files: Promise<ShownFile[]> } | undefined;

  constructor(options: GitIdentityOptions) {
    this.#options = options;
  }

  files(): Promise<ShownFile[]> {
    const { home } = this.#options;
    const version = [join(home, '.gitconfig'), join(home, '.config/git/config')]
      .map((path) => infoOf(path)?.mtimeMs)
      .join();
    if (this.#read?.version !== version) this.#read = { version, files: this.#write() };
    return this.#read.files;
  }

  async #write(): Promise<ShownFile[]> {
    const { home, file } = this.#options;
    const settings = await this.#settings();
    const kept = settings.filter(([key, value]) => plainKeys.has(key) || largeFileFilter[key] === value);
    writeFileSync(file, kept.map(([key, value]) => configLine(key, value)).join(''), { mode: 0o600 });
    const excludes = kept.findLast(([key]) => key === 'core.excludesfile')?.[1] ?? '~/.config/git/ignore';
    const path = resolve(home, excludes.replace(/^~(?=\/)/, home));
    return [
      { source: file, path: join(home, '.gitconfig') },
      ...(infoOf(path)?.isFile() && secrecyOf(path) === undefined ? [{ source: path, path }] : []),
    ];
  }

  /** Asked in the workspace, because an include may apply to some directories only. Reading settings runs no program. */
  async #settings(): Promise<(readonly [key: string, value: string])[]> {
    const { home, roots, env } = this.#options;
    const git = trustedPath('git', { outside: roots, path: env['PATH'] ?? '' });
    const cwd = roots.find((root) => infoOf(root)?.isDirectory());
    if (git === undefined || cwd === undefined) return [];
    const variables = { HOME: home, PATH: env['PATH'], XDG_CONFIG_HOME: env['XDG_CONFIG_HOME'] };
    const output = await new Promise<string>((done) => {
      const args = ['config', '--global', '--includes', '--list', '--null'];
      execFile(git, args, { cwd, env: variables, timeout: 2_000 }, (error, stdout) => done(error ? '' : stdout));
    });
    return output.split('\0').flatMap((entry) => {
      const end = entry.indexOf('\n');
      return entry === '' ? [] : [end < 0 ? ([entry, 'true'] as const) : [entry.slice(0, end), entry.slice(end + 1)]];
    });
  }
}

function configLine(key: string, value: string): string {
  const [section = '', ...names] = key.split('.');
  const name = names.pop() ?? '';
  const header = names.length === 0 ? `[${section}]` : `[${section} "${names.join('.')}"]`;
  const quoted = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `${header}\n\t${name} = "${quoted}"\n`;
}

/** `undefined` also where a file stands in the place of a directory. */
function infoOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
