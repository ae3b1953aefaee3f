import {
  ACCOUNT_RIGHTS,
  type Geofence,
  type GroupId,
  type Role,
  type User,
  type UserId,
  type Vehicle,
  type VehicleGroup,
} from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rightToData, rightToGeofence, rightToGroup, rightToUser, rightToVehicle } from './rights.ts';

const ids = ['a', 'b', 'c', 'd'] as const;
const userId = fc.constantFrom(...ids).map((id) => id as UserId);
const groupIds = fc.subarray([...ids]).map((list) => list as unknown as GroupId[]);
const dealerId = fc.option(userId);
const role = fc.constantFrom<Role>('operator', 'dealer', 'user');
const caller = fc
  .record({ id: userId, role, blocked: fc.boolean(), groupIds, dealerId, rights: fc.subarray([...ACCOUNT_RIGHTS]) })
  .map((user) => user as unknown as User);
const suspension = fc.option(fc.constant({ reason: 'unpaid' }));
const vehicle = fc.record({ dealerId, groupIds, suspension }).map((it) => it as unknown as Vehicle);
const group = fc.record({ id: fc.constantFrom(...ids), dealerId }).map((it) => it as unknown as VehicleGroup);
const geofence = fc
  .record({ ownerId: userId, sharedWithOrganisation: fc.boolean(), sharedGroupIds: groupIds })
  .map((it) => it as unknown as Geofence);

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
      const isMember = me.role === 'user' && ofVehicle.groupIds.some((id) => me.groupIds.includes(id));
      expect(rightToVehicle(me, ofVehicle)).toBe(
        operator || (dealer && ofVehicle.dealerId === me.id) || (isMember && me.rights.includes('edit-vehicles'))
          ? 'write'
          : isMember
            ? 'read'
            : 'none',
      );
      const isHidden = ofVehicle.suspension !== null && !operator;
      expect(rightToData(me, ofVehicle)).toBe(isHidden ? 'none' : rightToVehicle(me, ofVehicle));
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
      const isShared = fence.sharedWithOrganisation || fence.sharedGroupIds.length > 0;
      const isCustomers = dealer && other.dealerId === me.id;
      const mayEdit = me.role !== 'user' || me.rights.includes('edit-geofences');
      const organisation = (it: User) => (it.role === 'dealer' ? it.id : it.dealerId);
      const isColleagues = organisation(me) === organisation(other);
      const given =
        (fence.sharedWithOrganisation && isColleagues) ||
        (dealer && isShared && isColleagues) ||
        (me.role === 'user' && fence.sharedGroupIds.some((id) => me.groupIds.includes(id)));
      expect(rightToGeofence(me, fence, other)).toBe(
        operator || (fence.ownerId === me.id && mayEdit) || (isCustomers && isShared)
          ? 'write'
          : fence.ownerId === me.id || isCustomers || given
            ? 'read'
            : 'none',
      );
    }),
  );
});
