import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Board, retentionSeconds } from './board.js';

/** Two workers that start together would both create the table, hence the lock. */
const setup = `
  begin; select pg_advisory_xact_lock(7182818);
  create table if not exists lathe_fleet (
    group_name text not null, field text not null, value text not null, changed timestamptz not null default now(),
    primary key (group_name, field));
  delete from lathe_fleet where changed < now() - interval '${retentionSeconds} seconds'; commit`;
const insert = 'insert into lathe_fleet (group_name, field, value) values ($1, $2, $3) on conflict (group_name, field)';
const sum = '(lathe_fleet.value::double precision + excluded.value::double precision)::text';
const maxTries = 120;
const retryMs = 500;

/** One table for all groups. */
export class PostgresBoard implements Board {
  readonly #pool: Pool;
  #ready: Promise<unknown> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async get(group: string, field: string): Promise<string | undefined> {
    const [row] = await this.#query('select value from lathe_fleet where group_name = $1 and field = $2', group, field);
    return row?.['value'];
  }

  async set(group: string, field: string, value: string, { ifAbsent = false } = {}): Promise<boolean> {
    const conflict = ifAbsent ? 'do nothing' : 'do update set value = excluded.value, changed = now()';
    return (await this.#query(`${insert} ${conflict} returning field`, group, field, value)).length > 0;
  }

  async remove(group: string, field: string): Promise<void> {
    await this.#query('delete from lathe_fleet where group_name = $1 and field = $2', group, field);
  }

  async fields(group: string): Promise<string[]> {
    const rows = await this.#query('select field from lathe_fleet where group_name = $1', group);
    return rows.flatMap(({ field }) => field ?? []);
  }

  async add(group: string, field: string, amount: number): Promise<number> {
    const conflict = `do update set value = ${sum}, changed = now()`;
    const [row] = await this.#query(`${insert} ${conflict} returning value`, group, field, String(amount));
    return Number(row?.['value']);
  }

  async now(): Promise<number> {
    const [row] = await this.#query('select extract(epoch from clock_timestamp()) * 1000 as now');
    return Number(row?.['now']);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** A server that is away is asked again, as a Redis client does by itself. */
  async #query(text: string, ...values: string[]): Promise<Record<string, string | undefined>[]> {
    for (let tries = 1; ; tries++) {
      try {
        this.#ready ??= this.#pool.query(setup);
        await this.#ready;
        return (await this.#pool.query<Record<string, string | undefined>>(text, values)).rows;
      } catch (error) {
        if (tries === maxTries || this.#pool.ending || !isAway(error)) throw error;
        this.#ready = undefined;
        await pause(retryMs);
      }
    }
  }
}

/** Connections that break have a code of the system or none at all; a server that starts or stops has one of class 57. */
function isAway(error: unknown): boolean {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return code === undefined || /^(?:57P|08|53300|E[A-Z]+$)/.test(String(code));
}
