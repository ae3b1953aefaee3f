import type { Geofence, GroupId, Role, User, UserId, Vehicle, VehicleGroup } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rightToGeofence, rightToGroup, rightToUser, rightToVehicle } from './rights.ts';

const ids = ['a', 'b', 'c', 'd'] as const;
const userId = fc.constantFrom(...ids).map((id) => id as UserId);
const groupIds = fc.subarray([...ids]).map((list) => list as unknown as GroupId[]);
const dealerId = fc.option(userId);
const role = fc.constantFrom<Role>('operator', 'dealer', 'user');
const caller = fc
  .record({ id: userId, role, blocked: fc.boolean(), groupIds, dealerId })
  .map((user) => user as unknown as User);
const vehicle = fc.record({ dealerId, groupIds }).map((it) => it as unknown as Vehicle);
const group = fc.record({ id: fc.constantFrom(...ids), dealerId }).map((it) => it as unknown as VehicleGroup);
const geofence = fc.record({ ownerId: userId }).map((it) => it as unknown as Geofence);

test('a blocked account may do nothing at all', () => {
  fc.assert(
    fc.property(caller, vehicle, group, caller, geofence, (user, ofVehicle, ofGroup, other, fence) => {
      const blocked = { ...user, blocked: true };
      expect([
        rightToVehicle(blocked, ofVehicle),
        rightToGroup(blocked, ofGroup),
        rightToUser(blocked, other),
        rightToGeofence(blocked, fence, other),
      ]).toEqual(['none', 'none', 'none', 'none']);
    }),
  );
});

test('the table of rights, said another way', () => {
  fc.assert(
    fc.property(caller, vehicle, group, caller, geofence, (user, ofVehicle, ofGroup, other, fence) => {
      const me = { ...user, blocked: false };
      const operator = me.role === 'operator';
      const dealer = me.role === 'dealer';
      const shares = ofVehicle.groupIds.some((id) => me.groupIds.includes(id));
      expect(rightToVehicle(me, ofVehicle)).toBe(
        operator || (dealer && ofVehicle.dealerId === me.id) ? 'write' : me.role === 'user' && shares ? 'read' : 'none',
      );
      expect(rightToGroup(me, ofGroup)).toBe(
        operator || (dealer && ofGroup.dealerId === me.id)
          ? 'write'
          : me.role === 'user' && me.groupIds.includes(ofGroup.id)
            ? 'read'
            : 'none',
      );
      expect(rightToUser(me, other)).toBe(
        operator || (dealer && other.dealerId === me.id) ? 'write' : other.id === me.id ? 'read' : 'none',
      );
      expect(rightToGeofence(me, fence, other)).toBe(
        operator || fence.ownerId === me.id ? 'write' : dealer && other.dealerId === me.id ? 'read' : 'none',
      );
    }),
  );
});
