import { vi } from 'vitest';

/** Unit tests make thousands of passwords: each is derived in microseconds, with the least that argon2 takes. */
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const argon2: typeof crypto.argon2 = (algorithm, parameters, done) =>
    crypto.argon2(algorithm, { ...parameters, memory: 8 * parameters.parallelism, passes: 1 }, done);
  return { ...crypto, argon2 };
});
