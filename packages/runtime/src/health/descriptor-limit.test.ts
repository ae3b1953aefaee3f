import { expect, test } from 'vitest';
import { whole } from '../config.ts';
import { allowedConnections, descriptorLimit, descriptorShortage, limitIn } from './descriptor-limit.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             unlimited            unlimited            processes
Max open files            4096                 524288               files
`;

test('the limit is the one in force, and null where there is none', () => {
  expect(limitIn(LIMITS)).toBe(4096);
  expect(limitIn(LIMITS.replace('4096', 'unlimited'))).toBeNull();
  expect(limitIn('')).toBeNull();
  if (process.platform === 'linux') expect(descriptorLimit()).toBeGreaterThan(0);
});

test('settings that allow connections are summed up, and no others', () => {
  const connections = { ...whole(1, 100_000, 20_000, 'Terminals.'), allowsConnections: true };
  const variables = { MAX_A: connections, MAX_B: connections, PORT: whole(0, 65_535, 8080, 'A port.') };
  const allowed = allowedConnections(variables, { MAX_A: 20_000, MAX_B: 10_000, PORT: 8080 });
  expect(allowed).toEqual({ MAX_A: 20_000, MAX_B: 10_000 });
  expect(descriptorShortage(30_500, allowed)).toBeNull();
  expect(descriptorShortage(null, allowed)).toBeNull();
  expect(descriptorShortage(4096, allowed)).toMatchObject({
    needed: 30_500,
    detail: 'the limit is 4096; MAX_A + MAX_B, and files, need 30500',
    todo: expect.stringMatching(/^raise the hard limit to 30500 \(LimitNOFILE of systemd, ulimits of docker compose/),
  });
});
