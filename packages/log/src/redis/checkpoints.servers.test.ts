import { describe, expect, test } from 'vitest';
import { describeCheckpoints } from '../checkpoints.conformance.ts';
import { openRedisCheckpoints } from './checkpoints.ts';

const url = process.env.REDIS_URL;
const onError = () => {};

/** Runs where REDIS_URL names a server. */
describe.skipIf(url === undefined)('Redis', () => {
  describeCheckpoints('Redis', async () => ({
    open: () => openRedisCheckpoints({ url: url as string, onError }),
    dispose: async () => {},
  }));
});

test('a server that is not there is reported', async () => {
  await expect(openRedisCheckpoints({ url: 'redis://127.0.0.1:1', onError })).rejects.toThrow(/ECONNREFUSED/);
});
