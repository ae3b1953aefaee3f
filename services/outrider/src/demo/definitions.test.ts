import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createDemoScenario } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEMO_ACCOUNTS, ensureDefinitions, ensureForwarding } from './definitions.ts';

const ALL = { limit: 1000, after: null };
const scenario = createDemoScenario();
let registry: Registry;
beforeEach(async () => {
  registry = await openTestRegistry();
});
afterEach(() => registry.close());

test('accounts of every role, one of them read-only, and one vehicle that is suspended with a reason', async () => {
  await ensureDefinitions(registry, scenario, 'password of the demo');
  for (const { login, role } of DEMO_ACCOUNTS) expect((await registry.users.byLogin(login))?.role, login).toBe(role);
  const viewer = await registry.users.byLogin('demo-viewer');
  expect(viewer).toMatchObject({ rights: [], services: [], role: 'user' });
  // And one of its own, as every user.
  expect(viewer?.groupIds).toHaveLength(scenario.groups.length + 1);
  const suspended = async () =>
    (await registry.vehicles.list({}, ALL)).items.filter((each) => each.suspension !== null);
  const [car, ...others] = await suspended();
  expect(others).toEqual([]);
  expect(car?.suspension).toMatchObject({ by: 'dealer', reason: expect.stringMatching(/\w/) });
  // A later start leaves alone what a person did meanwhile.
  if (car !== undefined) await registry.vehicles.suspend(car.id, null);
  await ensureDefinitions(registry, scenario, 'password of the demo');
  expect(await suspended()).toEqual([]);
  expect((await registry.users.list({}, ALL)).items).toHaveLength(DEMO_ACCOUNTS.length);
});

test('one destination of the dealer, which follows the receiver and stays paused', async () => {
  const { dealer } = await ensureDefinitions(registry, scenario, 'password of the demo');
  const { forwardingDestinations } = registry;
  const all = async () => (await forwardingDestinations.list(dealer.id, ALL)).items;
  await ensureForwarding(registry, dealer, { url: 'http://127.0.0.1:1111/fleet', secret: 'first' });
  const [first] = await all();
  expect(first).toMatchObject({ kind: 'http', endpoint: '127.0.0.1:1111', active: true, hasSecret: true });
  if (first !== undefined) await forwardingDestinations.update(first.id, null, { ...first, active: false });
  await ensureForwarding(registry, dealer, { url: 'http://127.0.0.1:2222/fleet', secret: 'second' });
  const settings = { url: 'http://127.0.0.1:2222/fleet' };
  expect(await all()).toMatchObject([{ id: first?.id, endpoint: '127.0.0.1:2222', settings, active: false }]);
  expect(await forwardingDestinations.secrets(first?.id ?? '')).toMatchObject({ secret: 'second' });
});
