import { basename } from 'node:path';
import { hasKnownReads } from '../programs/changing-programs.js';
import type { Judgement } from '../programs/judge-command.js';
import { nameSet } from '../programs/name-set.js';
import type { Effects } from '../programs/read-arguments.js';
import { type Segment, substitutedPipe, unknownPart } from './command-analysis.js';
import type { Argument } from './expand-word.js';
import type { ContentUse, PathUse, RecordedUse } from './resolve-paths.js';

/** A segment with the directories it may run in; empty if unknown. */
export type PlacedSegment = Segment & {
  cwds: readonly string[];
  /** A part of a command that a rule can name whole: the whole asks. */
  isNamed?: boolean;
  /** A program that is not known to use the network. */
  isOffline?: boolean;
};

const pathLists = [
  'reads',
  'searches',
  'followed',
  'writes',
  'redirections',
  'repositories',
  'workTrees',
  'npmProjects',
  'contents',
] as const;

/** Everything found in the text of a command, before any file is accessed. */
export class Findings {
  readonly segments: PlacedSegment[] = [];
  readonly reads: PathUse[] = [];
  /** The part of `reads` whose content is searched. */
  readonly searches: PathUse[] = [];
  /** The part of `reads` where a program follows the symlinks in a directory. */
  readonly followed: PathUse[] = [];
  readonly writes: PathUse[] = [];
  readonly redirections: PathUse[] = [];
  readonly repositories: PathUse[] = [];
  readonly workTrees: PathUse[] = [];
  readonly npmProjects: PathUse[] = [];
  readonly contents: ContentUse[] = [];
  readonly recorded: RecordedUse[] = [];
  /** Where `cd` leads by the text of a path with `..`. */
  readonly backs: string[] = [];
  readonly hosts = new Set<string>();
  readonly doubts = new Set<string>();
  readonly offline = new Set<string>();
  usesNetwork = false;
  needsNetwork = false;
  hasUnnamedHost = false;
  /** Words and characters parsed inside wrappers. */
  work = 0;

  /** For one analysis to add what it finds in files. */
  copy(): Findings {
    const copy = new Findings();
    for (const list of pathLists) copy[list].push(...this[list]);
    copy.segments.push(...this.segments.map((segment) => ({ ...segment })));
    copy.backs.push(...this.backs);
    copy.recorded.push(...this.recorded);
    for (const sentence of this.doubts) copy.doubts.add(sentence);
    if (this.usesNetwork) copy.connect([...this.hosts], { isNeeded: this.needsNetwork });
    copy.hasUnnamedHost = this.hasUnnamedHost;
    for (const name of this.offline) copy.offline.add(name);
    return copy;
  }

  connect(hosts: readonly string[], { isNeeded }: { isNeeded: boolean }): void {
    this.usesNetwork = true;
    this.needsNetwork ||= isNeeded;
    this.hasUnnamedHost ||= isNeeded && hosts.length === 0;
    for (const host of hosts) this.hosts.add(host);
  }

  /** A segment that is not proven. As a part of a command that a rule can name, it makes that command ask instead. */
  unproven(segment: PlacedSegment, why: string, part: false | { named: string[] | undefined }): void {
    Object.assign(segment, part ? { isNamed: true } : { isReadOnly: false, why });
    const [program = ''] = segment.words;
    if (segment.isOffline && !runsNothing.has(program)) this.offline.add(basename(program));
    if (part && part.named) this.segments.push({ ...segment, words: part.named, isReadOnly: false, why });
  }

  doubt(...sentences: string[]): void {
    for (const sentence of sentences) this.doubts.add(sentence);
  }

  /** Adds a segment that is not understood, which any deny rule may match. */
  unseen(text: string, doubt: string): void {
    this.doubt(doubt);
    this.segments.push({ words: [unknownPart], text, isReadOnly: false, why: doubt, hidden: true, cwds: [] });
  }

  /** Adds what a program does in any of these directories. */
  add(effects: Effects, cwds: readonly string[]): void {
    for (const list of ['reads', 'writes'] as const) {
      for (const argument of effects[list] ?? []) this[list].push(...this.places(argument, cwds));
    }
    for (const list of ['searches', 'followed', 'repositories', 'workTrees', 'npmProjects'] as const) {
      for (const argument of effects[list] ?? []) this[list].push(...this.trees(argument, cwds));
    }
  }

  /** Adds what a program may show of the files that it reads. */
  show(judgement: Judgement, words: readonly Argument[], cwds: readonly string[]): void {
    const { recorded = [], skipsHidden = false, only } = judgement;
    for (const argument of shownBy(judgement, words).map(directly)) {
      if (cwds.length === 0 && !argument.value.startsWith('/')) continue;
      const names = argument.only === undefined ? only : [argument.only];
      const limits = { skipsHidden, ...(names && { only: names }) };
      for (const place of this.places(argument, cwds)) this.contents.push({ ...place, ...limits });
    }
    for (const { directory, ...content } of recorded)
      for (const from of this.places(directory, cwds)) this.recorded.push({ from, ...content });
  }

  redirect(word: Argument, cwds: readonly string[], { isRead }: { isRead: boolean }): void {
    const places = this.places(word, cwds);
    this[isRead ? 'reads' : 'redirections'].push(...places);
    if (isRead) this.contents.push(...places);
  }

  read(paths: readonly Argument[], cwds: readonly string[]): void {
    for (const path of paths) this.reads.push(...this.places(path, cwds));
  }

  /** The shell itself reads directories to expand a pattern, whatever the program does with the names. */
  readPatterns(words: readonly Argument[], cwds: readonly string[]): void {
    this.read(
      words.filter(({ isGlob }) => isGlob === true),
      cwds,
    );
  }

  /** The paths an operand may mean; adds a doubt if they are unknown. */
  places(argument: Argument, cwds: readonly string[]): PathUse[] {
    const { value, isKnown, pattern, names, text, below } = argument;
    if (below) {
      const places = this.trees(below, cwds);
      this.searches.push(...places);
      return places;
    }
    if (isStream(value)) return [];
    if (!isKnown && !pattern) {
      this.doubt(`Which file ${text} means is only known when it runs.`);
      return [];
    }
    const more = { ...(pattern && { pattern }), ...(names && { names }) };
    if (value.startsWith('/') && !names) return [{ cwd: '/', path: value, ...more }];
    if (cwds.length === 0) this.doubt(`The directory of ${text} is only known when it runs.`);
    return cwds.map((cwd) => ({ cwd, path: value, ...more }));
  }

  /** The same for a directory and its contents; a stream that the shell opened may be one. */
  trees(argument: Argument, cwds: readonly string[]): PathUse[] {
    const { value, text } = argument;
    if (isStream(value) && !isNoDirectory(value)) this.doubt(`What ${text} leads to is only known when it runs.`);
    return this.places(argument, cwds);
  }
}

/** The files that a program reads and shows. Of an unknown program, any word may name one. */
function shownBy({ reads = [], why, inner }: Judgement, [program, ...words]: readonly Argument[]): Argument[] {
  const name = program?.value ?? '';
  if (name === 'git')
    return words.flatMap((word, index) => (/^(-[fF]|--file)$/.test(words[index - 1]?.value ?? '') ? word : []));
  if (namesOnly.has(name)) return [];
  const isUnknown = why !== undefined && (!inner || readingWrappers.has(name)) && !hasKnownReads(name);
  const named = isUnknown ? words : words.filter(({ value }) => /^file:/i.test(value));
  return [...reads, ...named.flatMap(namedIn).filter(isLikelyName)];
}

/** They run other programs, and also read files that their own words name. */
const readingWrappers = nameSet('bash sh dash zsh ksh source . xargs parallel');

/** A word as the name of a file; `--file=NAME` and `file:///NAME` contain one. */
function namedIn(word: Argument): Argument[] {
  const inFlag = /^--?[\w-]+=(.*)$/s.exec(word.value)?.[1] ?? word.value;
  const value = inFlag.replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  return value === word.value ? [word] : word.isKnown ? [{ ...word, value }] : [];
}

const isLikelyName = ({ value, isKnown, pattern, isOpen }: Argument) =>
  !isOpen && (isKnown || pattern !== undefined) && !value.startsWith('-') && value !== '' && value.length < 4096;

/** A path that leads through the directories of a process, without this detour: `/proc/self/cwd/a` is `./a`. */
function directly(argument: Argument): Argument {
  const value = argument.value.replace(/^\/+proc\/+(?:self|thread-self|\d+)\/+(cwd|root)(?=\/)/, (_, kind: string) =>
    kind === 'cwd' ? '.' : '',
  );
  return value === argument.value ? argument : { ...argument, value };
}

/** Programs that start no other one, except for the hooks of git, which are protected. */
const runsNothing = nameSet('git mkdir touch cp mv rm rmdir ln chmod tee truncate');

const isNoDirectory = (path: string) => [substitutedPipe, '/dev/null', '/dev/zero'].includes(path);

/** A stream is checked where the shell opens it. Not stdout and stderr: a program that reads from them waits forever. */
const isStream = (path: string) => isNoDirectory(path) || /^\/dev\/(stdin|fd\/(0|[3-9]|\d{2,}))$/.test(path);

/** Through such a name, a file opened for reading can be opened again for writing. */
export const isOpenStream = (path: string): boolean => isStream(path) && path !== '/dev/null';

/** Programs that tell names, sizes, times or checksums of files, and nothing else of their content. */
const namesOnly: ReadonlySet<string> = nameSet(
  'ls stat test [ readlink realpath du tree find fd fdfind cd wc basename dirname file cksum md5sum sha1sum sha256sum ' +
    'sha512sum b2sum echo printf pwd type command true false : touch rm rmdir unlink shred mkdir chmod chown chgrp git',
);
