import { expect, test } from 'vitest';
import type { GroupId, UserId } from './ids.ts';
import { type Caller, maySeeVehicle, watches } from './rights.ts';

const dealerId = 'dealer' as UserId;
const lorries = 'lorries' as GroupId;
const vans = 'vans' as GroupId;

const operator: Caller = { id: 'operator' as UserId, role: 'operator', blocked: false, groupIds: [] };
const dealer: Caller = { id: dealerId, role: 'dealer', blocked: false, groupIds: [] };
const user: Caller = { id: 'user' as UserId, role: 'user', blocked: false, groupIds: [lorries] };
const lorry = { dealerId, groupIds: [lorries, vans], suspension: null };
const van = { dealerId: null, groupIds: [vans], suspension: null };

test('an operator sees every vehicle, a dealer its own, a user those of the groups they were given', () => {
  expect([lorry, van].map((vehicle) => maySeeVehicle(operator, vehicle))).toEqual([true, true]);
  expect([lorry, van].map((vehicle) => maySeeVehicle(dealer, vehicle))).toEqual([true, false]);
  expect([lorry, van].map((vehicle) => maySeeVehicle(user, vehicle))).toEqual([true, false]);
});

test('who is blocked sees nothing', () => {
  for (const caller of [operator, dealer, user]) expect(maySeeVehicle({ ...caller, blocked: true }, lorry)).toBe(false);
});

test('a geofence watches what its owner may see, or the groups it names among that', () => {
  expect(watches({ groupIds: null }, user, lorry)).toBe(true);
  expect(watches({ groupIds: [vans] }, user, lorry)).toBe(true);
  expect(watches({ groupIds: [] }, user, lorry)).toBe(false);
  expect(watches({ groupIds: [vans] }, user, van)).toBe(false);
  expect(watches({ groupIds: null }, { ...user, blocked: true }, lorry)).toBe(false);
});
