import type { User } from '@outrider/domain';
import { dropTakenExternalIds } from '../fleet/custom-fields.ts';
import { releaseDrivers } from '../fleet/drivers.ts';
import { deleteGeofencesOf, dropTakenGeofenceIds } from '../fleet/geofences.ts';
import { releaseGroups } from '../fleet/groups.ts';
import { deleteShareLinksOf } from '../fleet/share-links.ts';
import { VEHICLES } from '../fleet/vehicles.ts';
import { deleteForwardingDestinationsOf } from '../notifications/forwarding-destinations.ts';
import { deleteMessageChannelsOf } from '../notifications/message-channels.ts';
import { deleteRulesOf } from '../notifications/notification-rules.ts';
import { deleteNotificationsOf } from '../notifications/notifications.ts';
import { deleteSchedulesOf } from '../reports/report-schedules.ts';
import { deleteReportTemplatesOf } from '../reports/report-templates.ts';
import { forgetKeysOf } from '../store/idempotency.ts';
import { deleteQuotasOf } from '../store/quotas.ts';
import { inChunks, type Writer } from '../store/store.ts';
import { disownTasksOf } from '../video/video-task-rows.ts';
import { deleteAccountMailsOf } from './account-links.ts';
import { deleteApiKeysOf } from './api-keys.ts';
import { deleteExternalIdentitiesOf } from './external-identities.ts';
import { deletePreferencesOf } from './preferences.ts';
import { deleteSecondFactorOf } from './second-factors.ts';
import { endSessionsOf, forgetSourcesOf } from './sessions.ts';
import { idsOf, USERS } from './user-rows.ts';

/**
 * Deletes an account with everything that belongs to it alone. Vehicles, groups, drivers and users of a dealer become
 * the operator's own.
 */
export async function deleteAccount(writer: Writer, user: User): Promise<void> {
  const { id } = user;
  const { tx } = writer;
  await deleteRulesOf(writer, id);
  await deleteSchedulesOf(writer, id);
  await deleteShareLinksOf(writer, id);
  await disownTasksOf(tx, id);
  await deleteNotificationsOf(writer, id);
  await deleteGeofencesOf(writer, user);
  await endSessionsOf(tx, id);
  await deleteApiKeysOf(tx, id);
  await deleteAccountMailsOf(tx, id);
  await deleteExternalIdentitiesOf(tx, id);
  await tx.deleteFrom('accountExpiries').where('userId', '=', id).execute();
  await deleteSecondFactorOf(tx, id);
  await forgetSourcesOf(tx, id);
  await forgetKeysOf(tx, id);
  await deleteQuotasOf(tx, id);
  await tx.deleteFrom('fleetRetentions').where('owner', '=', id).execute();
  await deletePreferencesOf(tx, id);
  await deleteMessageChannelsOf(tx, id);
  await deleteForwardingDestinationsOf(tx, id);
  await deleteReportTemplatesOf(tx, id);
  await tx.deleteFrom('credentials').where('userId', '=', id).execute();
  await tx.deleteFrom('userGroupAccess').where('memberId', '=', id).execute();
  if (user.role === 'dealer') await releaseAllOf(writer, user);
  await USERS.deleteRow(writer, id);
  writer.deleted(user);
}

async function releaseAllOf(writer: Writer, dealer: User): Promise<void> {
  const { tx } = writer;
  const { id } = dealer;
  await releaseGroups(writer, id);
  await releaseDrivers(writer, id);
  const vehicleRows = await tx.selectFrom('vehicles').select('id').where('dealerId', '=', id).execute();
  const vehicles = await VEHICLES.load(tx, idsOf(vehicleRows));
  await dropTakenExternalIds(writer, 'vehicles', id);
  await tx.updateTable('vehicles').set({ dealerId: null }).where('dealerId', '=', id).execute();
  await VEHICLES.touch(writer, vehicles);
  const userRows = await tx.selectFrom('users').select('id').where('dealerId', '=', id).execute();
  const users = await USERS.load(tx, idsOf(userRows));
  await dropTakenExternalIds(writer, 'users', id);
  await dropTakenGeofenceIds(writer, idsOf(userRows), null);
  await tx.updateTable('users').set({ dealerId: null, dealerBlocked: 0 }).where('dealerId', '=', id).execute();
  // Users of a blocked dealer stay blocked until an operator unblocks each of them.
  if (dealer.blocked)
    for (const some of inChunks(idsOf(userRows)))
      await tx.updateTable('users').set({ blocked: 1 }).where('id', 'in', some).execute();
  await USERS.touch(writer, users);
}
