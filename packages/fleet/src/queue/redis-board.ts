import type { Redis } from 'ioredis';
import { type Board, retentionSeconds } from './board.js';

/** A hash for each group. */
export class RedisBoard implements Board {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async get(group: string, field: string): Promise<string | undefined> {
    return (await this.#redis.hget(keyOf(group), field)) ?? undefined;
  }

  async set(
    group: string,
    field: string,
    value: string,
    { ifAbsent = false }: { ifAbsent?: boolean } = {},
  ): Promise<boolean> {
    const key = keyOf(group);
    const isWritten = ifAbsent
      ? (await this.#redis.hsetnx(key, field, value)) === 1
      : (await this.#redis.hset(key, field, value)) >= 0;
    await this.#redis.expire(key, retentionSeconds);
    return isWritten;
  }

  async remove(group: string, field: string): Promise<void> {
    await this.#redis.hdel(keyOf(group), field);
  }

  async fields(group: string): Promise<string[]> {
    return this.#redis.hkeys(keyOf(group));
  }

  async add(group: string, field: string, amount: number): Promise<number> {
    const key = keyOf(group);
    const sum = Number(await this.#redis.hincrbyfloat(key, field, amount));
    await this.#redis.expire(key, retentionSeconds);
    return sum;
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }
}

const keyOf = (group: string): string => `lathe-fleet:${group}`;
