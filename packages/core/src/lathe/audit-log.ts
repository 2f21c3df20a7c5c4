import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../contract/call.js';
import { thrownText } from '../contract/errors.js';
import { type LatheHome, makeDirectory } from '../files/lathe-home.js';
import { redact } from '../text/redact.js';

const maxLogBytes = 10 * 1024 * 1024;
const maxTextChars = 2000;
const maxLineChars = 200_000;

/** A record as the log keeps it. */
interface StoredRecord extends AuditRecord {
  /** ISO 8601. */
  time: string;
  session?: string;
  cwd: string;
}

/**
 * What was proposed, shown, decided and executed, one line per call, in a private file of two generations. Secrets are
 * taken out and long texts shortened to their beginning and their hash before anything is written.
 */
export class AuditLog {
  readonly #home: LatheHome;
  readonly #secrets: readonly string[];
  readonly #cwd: string;
  /** The session whose calls are recorded, once it is known. */
  session: string | undefined;
  /** The last record could not be written, or only in part. */
  #isBroken = false;
  #hasComplained = false;

  constructor(home: LatheHome, secrets: readonly string[], cwd: string) {
    this.#home = home;
    this.#cwd = cwd;
    this.#secrets = secrets;
  }

  record(record: AuditRecord): void {
    try {
      const { session } = this;
      const line = this.#lineOf({
        time: new Date().toISOString(),
        ...(session !== undefined && { session }),
        cwd: this.#cwd,
        ...record,
      });
      const directory = this.#home.file('audit');
      makeDirectory(directory);
      append(join(directory, 'calls.jsonl'), `${this.#isBroken ? '\n' : ''}${line}\n`);
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      this.#complain(error);
    }
  }

  /** A record that is too long, or that has no text, is kept by what can be said of it. */
  #lineOf(record: StoredRecord): string {
    const { time, session, cwd, callId, tool, status, durationMs } = record;
    const brief = { time, session, cwd, callId, tool, status, durationMs };
    try {
      const line = redact(
        JSON.stringify(record, (_key, value: unknown) => this.#shorten(value)),
        this.#secrets,
      );
      return line.length <= maxLineChars ? line : JSON.stringify({ ...brief, left_out: `${line.length} characters` });
    } catch {
      return JSON.stringify({ ...brief, left_out: 'it is not JSON' });
    }
  }

  /** Redacted before it is cut: half a secret is not recognised. */
  #shorten(value: unknown): unknown {
    if (typeof value !== 'string' || value.length <= maxTextChars) return value;
    const hash = createHash('sha256').update(value).digest('hex');
    const start = redact(value.slice(0, 2 * maxTextChars), this.#secrets).slice(0, maxTextChars);
    return `${start}… (${value.length} characters, sha256 ${hash})`;
  }

  #complain(error: unknown): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    process.emitWarning(`The audit log cannot be written: ${thrownText(error)}`);
  }
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Into our own regular file only: a link is not followed, a pipe not waited for. */
function append(path: string, line: string): void {
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0), 0o600);
  try {
    const info = fstatSync(file);
    if (!info.isFile()) throw new Error(`${path} is not a regular file`);
    if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) fchmodSync(file, 0o600);
    if (info.size <= maxLogBytes) {
      appendFileSync(file, line);
      return;
    }
    renameSync(path, `${path}.1`);
  } finally {
    closeSync(file);
  }
  append(path, line);
}
