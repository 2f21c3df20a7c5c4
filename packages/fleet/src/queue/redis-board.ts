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

  async set(group: string, field: string, value: string, { ifAbsent = false } = {}): Promise<boolean> {
    const key = keyOf(group);
    const written = ifAbsent ? this.#redis.hsetnx(key, field, value) : this.#redis.hset(key, field, value);
    const [count] = await Promise.all([written, this.#redis.expire(key, retentionSeconds)]);
    return count === 1 || !ifAbsent;
  }

  async remove(group: string, field: string): Promise<void> {
    await this.#redis.hdel(keyOf(group), field);
  }

  async fields(group: string): Promise<string[]> {
    return this.#redis.hkeys(keyOf(group));
  }

  async add(group: string, field: string, amount: number): Promise<number> {
    const key = keyOf(group);
    const [sum] = await Promise.all([
      this.#redis.hincrbyfloat(key, field, amount),
      this.#redis.expire(key, retentionSeconds),
    ]);
    return Number(sum);
  }

  async now(): Promise<number> {
    const [seconds, microseconds] = await this.#redis.time();
    return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }
}

const keyOf = (group: string): string => `lathe-fleet:${group}`;
