import type { DriverId, GeofenceId, GroupId, Role, UserId, VehicleId } from '@outrider/domain';
import type { AuditEntry, AuditedFields, AuditFilter, Page, Paging } from '@outrider/registry';
import { AccessPart } from './checks.ts';
import { Problem } from './problem.ts';
import { isOperator, rightToDriver, rightToVehicle, visibleAudit } from './rights.ts';

/**
 * A line of the audit trail as shown to a caller. For accounts outside a dealer's organisation, only the role is shown.
 */
export type AuditShown = Omit<AuditEntry, 'user'> & {
  user: { id: UserId | null; login: string | null; role: Role } | null;
};

/** The audit trail, as one caller may see it. */
export class AuditAccess extends AccessPart {
  /** The newest first. */
  async list(filter: AuditFilter, paging: Paging): Promise<Page<AuditShown>> {
    const visible = visibleAudit(this.caller);
    if (visible === null) throw new Problem('forbidden', 'Only operators and dealers may see the audit trail.');
    const page = await this.sources.registry.audit.list({ ...filter, ...visible }, paging);
    return { ...page, items: page.items.map((entry) => this.#entryShown(entry)) };
  }

  #entryShown(entry: AuditEntry): AuditShown {
    const { user } = entry;
    const isOwn = user === null || user.id === this.caller.id || user.dealerId === this.caller.id;
    const shown: AuditShown = { ...entry, user: user && { id: user.id, login: user.login, role: user.role } };
    if (isOperator(this.caller)) return shown;
    return {
      ...shown,
      ...(isOwn
        ? {}
        : { user: { id: null, login: null, role: user.role }, sessionId: null, apiKeyId: null, address: null }),
      before: this.#fieldsShown(entry.before),
      after: this.#fieldsShown(entry.after),
    };
  }

  /** Removes references to objects that the caller may not see now. */
  #fieldsShown(fields: AuditedFields | null): AuditedFields | null {
    if (fields === null) return null;
    const { directory } = this.sources;
    const shown = { ...fields };
    const show = (name: string, isSeen: (id: never) => boolean) => {
      const named = fields[name];
      if (Array.isArray(named)) shown[name] = named.filter((id) => isSeen(id as never));
    };
    for (const name of ['groupIds', 'sharedGroupIds', 'driverGroupIds'])
      show(name, (id: GroupId) => this.checks.seesGroup(id));
    show('vehicleIds', (id: VehicleId) => rightToVehicle(this.caller, directory.vehicles.get(id)) !== 'none');
    for (const name of ['geofenceIds', 'insideGeofenceIds', 'outsideGeofenceIds'])
      show(name, (id: GeofenceId) => this.checks.rightToGeofence(directory.geofences.get(id)) !== 'none');
    show('driverIds', (id: DriverId) => rightToDriver(this.caller, directory.drivers.get(id)) !== 'none');
    if (fields.dealerId !== undefined && fields.dealerId !== this.caller.id) shown.dealerId = null;
    return shown;
  }
}
