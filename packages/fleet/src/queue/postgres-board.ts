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
const entry = 'lathe_fleet where group_name = $1 and field = $2';
const insert = 'insert into lathe_fleet (group_name, field, value) values ($1, $2, $3) on conflict (group_name, field)';
const sum = '(lathe_fleet.value::double precision + excluded.value::double precision)::text';
const maxTries = 120;
const retryMs = 500;

/** One table for all groups. */
export function postgresBoard(pool: Pool): Board {
  let ready: Promise<unknown> | undefined;
  /** A server that is away is asked again, as a Redis client does by itself. */
  const query = async (text: string, ...values: string[]): Promise<Record<string, string | undefined>[]> => {
    for (let tries = 1; ; tries++) {
      try {
        ready ??= pool.query(setup);
        await ready;
        return (await pool.query<Record<string, string | undefined>>(text, values)).rows;
      } catch (error) {
        if (tries === maxTries || pool.ending || !isAway(error)) throw error;
        ready = undefined;
        await pause(retryMs);
      }
    }
  };
  return {
    async get(group, field) {
      const [row] = await query(`select value from ${entry}`, group, field);
      return row?.['value'];
    },
    async set(group, field, value, { ifAbsent = false } = {}) {
      const conflict = ifAbsent ? 'do nothing' : 'do update set value = excluded.value, changed = now()';
      return (await query(`${insert} ${conflict} returning field`, group, field, value)).length > 0;
    },
    remove: async (group, field) => void (await query(`delete from ${entry}`, group, field)),
    async fields(group) {
      const rows = await query('select field from lathe_fleet where group_name = $1', group);
      return rows.flatMap(({ field }) => field ?? []);
    },
    async add(group, field, amount) {
      const conflict = `do update set value = ${sum}, changed = now()`;
      const [row] = await query(`${insert} ${conflict} returning value`, group, field, String(amount));
      return Number(row?.['value']);
    },
    async now() {
      const [row] = await query('select extract(epoch from clock_timestamp()) * 1000 as now');
      return Number(row?.['now']);
    },
    close: () => pool.end(),
  };
}

/** Connections that break have a code of the system or none at all; a server that starts or stops has one of class 57. */
function isAway(error: unknown): boolean {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return code === undefined || /^(?:57P|08|53300|E[A-Z]+$)/.test(String(code));
}
