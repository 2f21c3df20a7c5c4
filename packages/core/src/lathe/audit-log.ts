import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import type { LatheHome } from '../files/lathe-home.js';
import type { AuditRecord } from '../scheduler/call.js';
import { redact } from '../text/redact.js';

const maxLogBytes = 10 * 1024 * 1024;
const maxTextChars = 2000;

/**
 * What was proposed, shown, decided and executed, one line per call, in a private file of two generations. Secrets are
 * taken out and long texts shortened to their beginning and their hash before anything is written.
 */
export class AuditLog {
  readonly #home: LatheHome;
  readonly #secrets: readonly string[];
  #isBroken = false;

  constructor(home: LatheHome, secrets: readonly string[]) {
    this.#home = home;
    this.#secrets = secrets;
  }

  record(record: AuditRecord): void {
    if (this.#isBroken) return;
    try {
      const line = redact(JSON.stringify({ time: new Date().toISOString(), ...record }, shorten), this.#secrets);
      const file = this.#home.file('audit', 'calls.jsonl');
      mkdirSync(this.#home.file('audit'), { recursive: true, mode: 0o700 });
      rotate(file);
      appendFileSync(file, `${line}\n`, { mode: 0o600 });
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#isBroken = true;
    process.emitWarning(`The audit log cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function rotate(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxLogBytes) renameSync(file, `${file}.1`);
}

function shorten(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= maxTextChars) return value;
  const hash = createHash('sha256').update(value).digest('hex');
  return `${value.slice(0, maxTextChars)}… (${value.length} characters, sha256 ${hash})`;
}
