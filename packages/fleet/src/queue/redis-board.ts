import type { Redis } from 'ioredis';
import { type Board, retentionSeconds } from './board.js';

const keyOf = (group: string): string => `lathe-fleet:${group}`;

/** A hash for each group. */
export function redisBoard(redis: Redis): Board {
  /** Both commands go out together, so that no group is kept for ever. */
  const change = async <T>(group: string, act: (key: string) => Promise<T>): Promise<T> => {
    const [answer] = await Promise.all([act(keyOf(group)), redis.expire(keyOf(group), retentionSeconds)]);
    return answer;
  };
  return {
    get: async (group, field) => (await redis.hget(keyOf(group), field)) ?? undefined,
    async set(group, field, value, { ifAbsent = false } = {}) {
      if (ifAbsent) return (await change(group, (key) => redis.hsetnx(key, field, value))) === 1;
      await change(group, (key) => redis.hset(key, field, value));
      return true;
    },
    remove: async (group, field) => void (await redis.hdel(keyOf(group), field)),
    fields: (group) => redis.hkeys(keyOf(group)),
    add: async (group, field, amount) => Number(await change(group, (key) => redis.hincrbyfloat(key, field, amount))),
    async now() {
      const [seconds, microseconds] = await redis.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    },
    close: async () => redis.disconnect(),
  };
}
