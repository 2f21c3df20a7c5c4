import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NamesInUse } from '@lathe/core/host';
import type { LatheHome } from '@lathe/core/tools';
import { openPrivate, type ReadLimits, readTranscript, type StoredSession } from './read-transcript.js';
import { decodeLine, schemaVersion } from './record.js';
import { Transcript } from './transcript.js';

/** A session in a list. */
export interface SessionSummary {
  id: string;
  path: string;
  /** The directory it worked in. */
  cwd: string;
  model: string;
  /** The beginning of the first prompt. */
  title: string;
  /** ISO 8601, of the last record. */
  updated: string;
}

/** An earlier session, ready to continue. */
export interface ResumedSession extends StoredSession {
  id: string;
  path: string;
  /** For people: what differs from when the session was left. */
  notes: string[];
}

export interface NewTranscript {
  model: string;
  secrets: readonly string[];
  onProblem: (message: string) => void;
}

const maxListed = 200;
const headBytes = 64 * 1024;
const idShape = /^[0-9a-f][0-9a-f-]{3,35}$/;

/**
 * The sessions of one project: files in `sessions/<hash of the real path>/`, so that every directory has a folder of its
 * own, however its path is written.
 */
export class SessionStore {
  readonly #home: LatheHome;
  readonly #root: string;

  private constructor(home: LatheHome, root: string) {
    this.#home = home;
    this.#root = root;
  }

  static async open(home: LatheHome, root: string): Promise<SessionStore> {
    return new SessionStore(home, await realpath(root).catch(() => root));
  }

  /** Creates a session. Its file is created with the first record. */
  create({ model, ...options }: NewTranscript): { id: string; transcript: Transcript } {
    const id = randomUUID();
    const time = new Date().toISOString();
    const opening = { type: 'session', version: schemaVersion, id, cwd: this.#root, model, time } as const;
    return { id, transcript: new Transcript({ path: join(this.#directory, `${id}.jsonl`), opening, ...options }) };
  }

  /** Opens the file of an earlier session to continue it. */
  reopen({ path, last }: ResumedSession, { model, ...options }: NewTranscript): Transcript {
    const time = new Date().toISOString();
    const { writer = '', number = 0 } = last ?? {};
    return new Transcript({ path, opening: { type: 'resume', writer, number, model, time }, ...options });
  }

  /** Stores a session that was written elsewhere, so that it can continue here. */
  async adopt(id: string, records: Uint8Array): Promise<void> {
    if (!idShape.test(id)) throw new Error(`${JSON.stringify(id)} is not the id of a session`);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#directory, `${id}.jsonl`), records, { mode: 0o600 });
  }

  /** Newest first. */
  async list(limit = maxListed): Promise<SessionSummary[]> {
    return summaries((await filesIn(this.#directory)).slice(0, Math.min(limit, maxListed)));
  }

  /** The sessions of all projects, newest first. */
  static async listAll(home: LatheHome, limit = maxListed): Promise<SessionSummary[]> {
    const folders = await readdir(home.file('sessions')).catch(() => []);
    const files = (await Promise.all(folders.map((folder) => filesIn(home.file('sessions', folder))))).flat();
    return summaries(files.sort(newestFirst).slice(0, Math.min(limit, maxListed)));
  }

  /** The transcript with exactly this id, of any project. */
  static async find(home: LatheHome, id: string): Promise<string | undefined> {
    if (!idShape.test(id)) return undefined;
    const folders = await readdir(home.file('sessions')).catch(() => []);
    return folders.map((folder) => home.file('sessions', folder, `${id}.jsonl`)).find((path) => existsSync(path));
  }

  /** The session used last; `undefined` when there is none. */
  async latest(limits?: ReadLimits): Promise<ResumedSession | undefined> {
    const [newest] = await this.list(1);
    return newest && this.#load(newest, limits);
  }

  /** Finds a session by the beginning of its id, in this project or else in others. Throws unless there is exactly one. */
  async load(id: string, limits?: ReadLimits): Promise<ResumedSession> {
    const wanted = id.toLowerCase();
    if (!idShape.test(wanted)) throw new Error(`${JSON.stringify(id)} is not the id of a session; see lathe sessions`);
    const here = await this.#matching(this.#directory, wanted);
    const found = here.length > 0 ? here : await this.#elsewhere(wanted);
    const [only, other] = found;
    if (!only) throw new Error(`There is no session ${id}; see lathe sessions`);
    if (other) throw new Error(`${found.length} sessions begin with ${id}; give more of the id`);
    return this.#load(only, limits);
  }

  /** Removes a session of this project by its whole id. Throws while a process works with it. */
  async remove(id: string): Promise<void> {
    const file = (await filesIn(this.#directory)).find((each) => each.id === id);
    if (!file) throw new Error(`There is no session ${id} in this directory; see lathe sessions`);
    if ((await new NamesInUse(this.#home).list()).has(id)) throw new Error(`The session ${id} is open in a program`);
    // Two programs may remove it at once.
    await rm(file.path, { force: true });
  }

  get #directory(): string {
    const key = createHash('sha256').update(this.#root).digest('hex').slice(0, 32);
    return this.#home.file('sessions', key);
  }

  async #load({ id, path }: SessionFile, limits?: ReadLimits): Promise<ResumedSession> {
    const stored = await readTranscript(path, limits);
    return { ...stored, id, path, notes: this.#notesOn(stored, path) };
  }

  #notesOn({ header, lost, isCut }: StoredSession, path: string): string[] {
    const notes: string[] = [];
    if (lost > 0) notes.push(`Skipped ${lost} damaged records of the session; ${path} is unchanged.`);
    if (isCut) notes.push('The session is very long: its beginning was skipped.');
    if (header && header.version > schemaVersion)
      notes.push('The session was written by a newer Lathe; unknown records were skipped.');
    if (header && header.cwd !== this.#root) {
      const gone = existsSync(header.cwd) ? '' : ', which is gone';
      notes.push(`The session was in ${header.cwd}${gone}; it continues in ${this.#root}.`);
    }
    return notes;
  }

  async #matching(directory: string, prefix: string): Promise<SessionFile[]> {
    return (await filesIn(directory)).filter(({ id }) => id.startsWith(prefix));
  }

  async #elsewhere(prefix: string): Promise<SessionFile[]> {
    const all = this.#home.file('sessions');
    const folders = await readdir(all).catch(() => []);
    const found = await Promise.all(folders.map((folder) => this.#matching(join(all, folder), prefix)));
    return found.flat();
  }
}

interface SessionFile {
  id: string;
  path: string;
}

type DatedFile = SessionFile & { mtimeMs: number };

const newestFirst = (a: DatedFile, b: DatedFile) => b.mtimeMs - a.mtimeMs || (a.id < b.id ? -1 : 1);

async function filesIn(directory: string): Promise<DatedFile[]> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.jsonl'));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const info = await stat(path).catch(() => undefined);
      return { id: name.slice(0, -'.jsonl'.length), path, mtimeMs: info?.mtimeMs ?? 0 };
    }),
  );
  return files.filter(({ id }) => idShape.test(id)).sort(newestFirst);
}

async function summaries(files: readonly SessionFile[]): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  for (const file of files) {
    const summary = await summarize(file).catch(() => undefined);
    if (summary) found.push(summary);
  }
  return found;
}

/** Reads only the first records of a session. */
async function summarize({ id, path }: SessionFile): Promise<SessionSummary> {
  const file = await openPrivate(path);
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(head, 0, headBytes, 0);
    const records = head
      .toString('utf8', 0, bytesRead)
      .split('\n', 20)
      .flatMap((line) => decodeLine(line)?.record ?? []);
    const header = records.find((record) => record.type === 'session');
    const prompt = records.find((record) => record.type === 'prompt');
    const updated = (await file.stat()).mtime.toISOString();
    return { id, path, cwd: header?.cwd ?? '', model: header?.model ?? '', title: prompt?.text ?? '', updated };
  } finally {
    await file.close();
  }
}
