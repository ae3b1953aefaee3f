import { VEHICLE_FIELDS } from '@outrider/domain';
import type { ImportRun } from './import-run.ts';
import { speedLimit } from './traccar-equivalents.ts';
import type { LinkedList, SourceDevice, SourceGroup, SourceLinks, TraccarSource } from './traccar-source.ts';

/** Groups and devices of a Traccar, and their equivalents here. */
export class TraccarFleet {
  readonly #run: ImportRun;
  readonly #source: TraccarSource;
  readonly #sourceGroups = new Map<number, SourceGroup>();
  /** Ids of groups here, by name; in a dry run only of existing groups. */
  readonly #groupIds = new Map<string, string>();
  readonly #vehicleOf = new Map<number, string>();
  devices: readonly SourceDevice[] = [];

  constructor(run: ImportRun, source: TraccarSource) {
    this.#run = run;
    this.#source = source;
  }

  async importGroups(groups: readonly SourceGroup[]): Promise<void> {
    const { client } = this.#run;
    for (const group of groups) this.#sourceGroups.set(group.id, group);
    for await (const { id, name } of this.#run.all((page) => client.get('/api/v1/vehicle-groups', page)))
      this.#groupIds.set(name, id);
    for (const { id } of groups) await this.group(this.#nameOf(id));
  }

  async importDevices(devices: readonly SourceDevice[]): Promise<void> {
    const { client } = this.#run;
    const vehicles = new Map<string, { id: string; groupIds: readonly string[] }>();
    for await (const vehicle of this.#run.all((page) => client.get('/api/v1/vehicles', page)))
      if (vehicle.terminalId !== null) vehicles.set(vehicle.terminalId, vehicle);
    this.devices = devices;
    for (const { id, name, uniqueId, groupId, attributes = {} } of devices) {
      const what = `device ${name} (${uniqueId})`;
      if (!VEHICLE_FIELDS.terminalId.pattern.test(uniqueId)) {
        this.#run.say('skipped', what, 'its unique id can be no terminal’s here');
        continue;
      }
      const groupIds = this.chain(groupId).flatMap((each) => this.groupId(each) ?? []);
      const known = vehicles.get(uniqueId);
      if (known === undefined) {
        const fields = { name, terminalId: uniqueId, groupIds, ...speedLimit(attributes) };
        const made = await this.#run.make(what, () =>
          client.post('/api/v1/vehicles', { body: { ...fields, terminalAccess: { protocol: 'any' } } }),
        );
        if (made !== null) this.#vehicleOf.set(id, made.id);
        continue;
      }
      this.#vehicleOf.set(id, known.id);
      const missing = groupIds.filter((each) => !known.groupIds.includes(each));
      await this.#run.addToGroups(what, missing, (groupIdHere) => this.putVehicle(groupIdHere, known.id));
    }
  }

  /** The vehicle of a device; undefined if it was not imported. */
  vehicleOf(deviceId: number): string | undefined {
    return this.#vehicleOf.get(deviceId);
  }

  /** The group here of a Traccar group. */
  groupId(sourceId: number): string | undefined {
    return this.#groupIds.get(this.#nameOf(sourceId));
  }

  /** The group of this name, created if missing; null if it would be created in a dry run, or creating it failed. */
  async group(name: string): Promise<string | null> {
    const known = this.#groupIds.get(name);
    if (known !== undefined) {
      this.#run.say('unchanged', `group ${name}`);
      return known;
    }
    const made = await this.#run.make(`group ${name}`, () =>
      this.#run.client.post('/api/v1/vehicle-groups', { body: { name } }),
    );
    if (made !== null) this.#groupIds.set(name, made.id);
    return made?.id ?? null;
  }

  putVehicle(id: string, vehicleId: string): Promise<unknown> {
    return this.#run.call(() =>
      this.#run.client.put('/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}', { path: { id, vehicleId } }),
    );
  }

  /** A group and all groups that contain it, the innermost first: access to one of them includes what it contains. */
  chain(groupId: number | null | undefined): number[] {
    const chain: number[] = [];
    let group = this.#sourceGroups.get(groupId ?? 0);
    while (group !== undefined && !chain.includes(group.id)) {
      chain.push(group.id);
      group = this.#sourceGroups.get(group.groupId ?? 0);
    }
    return chain;
  }

  /** Links of the definitions in a list, by id. */
  linksOf(name: LinkedList): Promise<Map<number, SourceLinks>> {
    const deviceIds = this.devices.map(({ id }) => id);
    return this.#source.links(name, { deviceIds, groupIds: [...this.#sourceGroups.keys()] });
  }

  /** Ids here of linked vehicles and groups. In a dry run, missing ones keep their ids of Traccar. */
  targetsOf({ deviceIds, groupIds }: SourceLinks = { deviceIds: [], groupIds: [] }) {
    const ids = (known: string | undefined, id: number) => known ?? (this.#run.isDryRun ? String(id) : []);
    return {
      vehicleIds: deviceIds.flatMap((id) => ids(this.vehicleOf(id), id)),
      groupIds: groupIds.flatMap((id) => ids(this.groupId(id), id)),
    };
  }

  /** Groups can't be nested here, so the name contains the whole path. */
  #nameOf(groupId: number): string {
    return this.chain(groupId)
      .map((id) => this.#sourceGroups.get(id)?.name ?? '')
      .toReversed()
      .join(' / ');
  }
}
