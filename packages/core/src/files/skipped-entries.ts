import type { BytePath } from './byte-path.js';
import { isLinkRefused, maxIgnoreFile, maxRuleBytes } from './ignore-rules.js';
import { hasNoRules, hasOnlyPlainRules, rulesProblem } from './plain-rules.js';
import { readSmallFile } from './small-file.js';

export interface SkippedEntriesOptions {
  /** Leaves out of the report what ripgrep skips because of rules that mean the same to it and to git. */
  knowsPlainRules: boolean;
  /** Ripgrep ignores the case of letters in rules. */
  ignoresCase?: boolean;
}

/**
 * Reads ripgrep's `--debug` log as it comes: which entries of a tree it left out, and which ignore files it is about to
 * read. The log is meant for people, so whatever is not in exactly the known form makes it `isOdd`.
 *
 * Ripgrep has to leave out names with a newline, which could make the log say anything: then only the last name of a
 * path has one, and what follows it has a reason behind it and no absolute path in front.
 */
export class SkippedEntries {
  /** The log cannot be relied on, or an ignore file is one that should not be read. */
  isOdd = false;
  /** There is a log. */
  hasBegun = false;
  /** What is no part of the log. */
  errors = '';
  readonly #onSkipped: (path: BytePath) => void;
  /** Whether git would say the same by all ignore files so far: those that decide on an entry come before it. */
  #isGitsWord: boolean;
  readonly #ignoresCase: boolean;
  #rest = '';
  #size = 0;
  #ruleBytes = 0;

  constructor(onSkipped: (path: BytePath) => void, { knowsPlainRules, ignoresCase = false }: SkippedEntriesOptions) {
    this.#onSkipped = onSkipped;
    this.#isGitsWord = knowsPlainRules;
    this.#ignoresCase = ignoresCase;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#size += chunk.length;
    if (this.#rest.length > maxLine || this.#size > maxLog) this.isOdd = true;
    for (const line of lines) if (!this.isOdd) this.#read(line);
  }

  #read(line: string): void {
    const [, module = '', message = ''] = logLine.exec(line) ?? [];
    this.hasBegun ||= module !== '';
    if (module === '') this.#addError(line);
    else if (module === 'ignore::walk') this.#readVerdict(message);
    else if (module === 'ignore::gitignore') this.#checkIgnoreFile(openedFile.exec(message)?.[1]);
    else if (module === 'rg::haystack' || module.startsWith('grep_printer')) this.isOdd = !aboutOther.test(message);
    else this.isOdd = reason.test(message);
  }

  #readVerdict(message: string): void {
    const [, path, source] = verdict.exec(message) ?? [];
    // Bytes that are no text are shown as U+FFFD: the entry has another name.
    if (path === undefined || path.includes('\xef\xbf\xbd') || message.split(reason).length > 2) this.isOdd = true;
    else if (message.startsWith('ignoring') && !(source === 'Gitignore' && this.#isGitsWord)) this.#onSkipped(path);
  }

  #checkIgnoreFile(path: BytePath | undefined): void {
    const onProblem = () => (this.isOdd = true);
    const text =
      path && readSmallFile(path, { onProblem, isLinkRefused: isLinkRefused(path), maxBytes: maxIgnoreFile });
    this.#ruleBytes += text?.length ?? 0;
    if (path === undefined || this.#ruleBytes > maxRuleBytes || rulesProblem(text ?? '')) this.isOdd = true;
    // Git and ripgrep each have their own way to the excludes of a repository.
    const isPlain = path?.endsWith('/exclude') ? hasNoRules : hasOnlyPlainRules;
    this.#isGitsWord &&= text !== undefined && isPlain(text, { ignoresCase: this.#ignoresCase });
  }

  #addError(line: string): void {
    // A rule that ripgrep cannot read is none of ours.
    if (aboutRule.test(line)) return;
    if (this.errors.length < maxErrors && !reason.test(line)) this.errors += `${line}\n`;
    else this.isOdd = true;
  }
}

const maxLine = 64 << 10;
const maxLog = 64 << 20;
const maxErrors = 16 << 10;

const logLine = /^rg: DEBUG\|([\w:]+)\|[^|]*?\.rs:\d+: (.*)$/s;
const reason = /: (?:Ignore|Whitelist)\(IgnoreMatch\(/;
const verdict =
  /^(?:ignoring|whitelisting) (\/.*?): (?:Ignore|Whitelist)\(IgnoreMatch\((Gitignore|Override)\(.*\)\)\)$/;
const openedFile = /^opened gitignore file: (\/.*\/(?:\.gitignore|exclude))$/;
const aboutOther = /^ignoring \/.*: (?:failed to pass haystack filter: .*|found binary data at offset \d+)$/;
const aboutRule = /^rg: \/.*\/(?:\.gitignore|exclude): line \d+: error parsing glob /;
