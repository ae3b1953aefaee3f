import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, isOutdated, PasswordsBusyError, verifyNothing, verifyPassword } from './password.ts';

test('a hash is a PHC string with its parameters, and no two are alike', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword('correct horse', one)).toBe(true);
  expect(await verifyPassword('correct horse', two)).toBe(true);
  expect(await verifyPassword('Correct horse', one)).toBe(false);
});

test('a hash made with other parameters is understood, and known to be outdated', async () => {
  const tag = argon2Sync('argon2id', {
    message: 'password',
    nonce: Buffer.from('somesalt'),
    memory: 1024,
    passes: 3,
    parallelism: 2,
    tagLength: 24,
  });
  const phc = `$argon2id$v=19$m=1024,t=3,p=2$${Buffer.from('somesalt').toString('base64').replaceAll('=', '')}$${tag.toString('base64')}`;
  expect(await verifyPassword('password', phc)).toBe(true);
  expect(isOutdated(phc)).toBe(true);
  expect(isOutdated(await hashPassword('password'))).toBe(false);
});

test('the same letters typed on different keyboards are the same password', async () => {
  const composed = await hashPassword('p\u00e4ssw\u00f6rd');
  expect(await verifyPassword('pa\u0308sswo\u0308rd', composed)).toBe(true);
});

test('what is no PHC string of argon2id is a bug, not a wrong password', async () => {
  await expect(verifyPassword('x', '$2b$10$abc')).rejects.toThrow('PHC');
});

test('nobody gets in where there is no login', async () => {
  expect(await verifyNothing('correct horse')).toBe(false);
});

test('a flood is turned away at a bound, and what was taken in is answered', async () => {
  const results = await Promise.allSettled(Array.from({ length: 140 }, () => verifyNothing('x')));
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toHaveLength(140 - 130);
  for (const result of refused) expect(result.reason).toBeInstanceOf(PasswordsBusyError);
  expect(await verifyNothing('x')).toBe(false);
});
