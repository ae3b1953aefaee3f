import type { GroupId, User, UserId, Vehicle, VehicleId } from '@outrider/domain';
import type { MemberChange, MembersChanged, VehicleMove, VehiclePatch, VehicleWrite } from '@outrider/registry';
import { Faults } from '../faults.ts';
import { type CustomPatch, mergedAttributes } from '../fleet/custom-fields.ts';
import { badField, Problem } from '../problem.ts';
import { type Right, requireRight, rightToGroup, rightToUser, rightToVehicle } from '../rights.ts';
import { type BulkScope, collectingFaults } from './bulk-scope.ts';

/** Makes the same change to many named objects: to all of them, or to none. */
export class BulkChanges {
  readonly #scope: BulkScope;

  constructor(scope: BulkScope) {
    this.#scope = scope;
  }

  /**
   * Makes the same change to many vehicles: to all of them, or to none.
   *
   * @param ids of different vehicles
   * @throws {Problem} naming those that can't be changed
   */
  async changeVehicles(
    ids: readonly VehicleId[],
    { customAttributes, ...patch }: CustomPatch<Omit<VehiclePatch, 'terminalId' | 'terminalAccess' | 'dealerId'>>,
    dryRun: boolean,
  ): Promise<{ updated: number; unchanged: number; items: { id: VehicleId; outcome: 'updated' | 'unchanged' }[] }> {
    requireRight(this.#scope.caller, 'edit-vehicles');
    const { registry, directory } = this.#scope.sources;
    const vehicles = this.#changeable(ids, '/ids', 'vehicle', directory.vehicles, rightToVehicle);
    const { groupIds } = patch;
    if (groupIds !== undefined) this.#scope.requireManager();
    for (const [nth, id] of (groupIds ?? []).entries())
      if (!this.#scope.seesGroup(id)) throw badField(`/patch/groupIds/${nth}`, 'There is no such group.');
    const writes = vehicles.map((current): VehicleWrite => {
      if (groupIds === undefined && customAttributes === undefined)
        return { id: current.id, expectedVersion: null, patch };
      const merged: VehiclePatch = { ...patch };
      if (customAttributes !== undefined)
        merged.customAttributes = mergedAttributes(
          current.customAttributes,
          customAttributes,
          '/patch/customAttributes',
        );
      if (groupIds !== undefined)
        merged.groupIds = [...groupIds, ...current.groupIds.filter((id) => !this.#scope.seesGroup(id))];
      return { id: current.id, expectedVersion: current.version, patch: merged };
    });
    const outcomes = await collectingFaults(
      registry.vehicles.writeAll(writes, dryRun),
      new Faults(),
      (index, field) => ({
        pointer: field === null ? `/ids/${index}` : `/patch/${field}`,
      }),
    );
    const items = outcomes.map(({ definition: { id }, outcome }) => ({
      id,
      outcome: outcome === 'updated' ? ('updated' as const) : ('unchanged' as const),
    }));
    const updated = items.filter(({ outcome }) => outcome === 'updated').length;
    return { updated, unchanged: items.length - updated, items };
  }

  /**
   * Moves vehicles to another dealer: all of them, or none.
   *
   * @returns the vehicles that the dealer has now, by the ids of the moved ones
   * @throws {Problem} naming those that can't be moved
   */
  async moveVehicles(move: VehicleMove): Promise<Map<VehicleId, Vehicle>> {
    this.#scope.access.requireOperator();
    const { registry, directory } = this.#scope.sources;
    this.#changeable(move.ids, '/ids', 'vehicle', directory.vehicles, rightToVehicle);
    const { dealerId } = move;
    if (dealerId !== null && directory.users.get(dealerId)?.role !== 'dealer')
      throw badField('/dealerId', 'There is no such dealer.');
    return collectingFaults(registry.moveVehicles(move), new Faults(), (index) => ({ pointer: `/ids/${index}` }));
  }

  /** Adds vehicles to a group and removes others: all of them, or none. */
  async changeVehiclesOfGroup(
    groupId: GroupId,
    change: MemberChange<VehicleId>,
    dryRun: boolean,
  ): Promise<MembersChanged> {
    const { registry, directory } = this.#scope.sources;
    await this.#requireGroup(groupId);
    for (const list of ['add', 'remove'] as const)
      this.#changeable(change[list], `/${list}`, 'vehicle', directory.vehicles, rightToVehicle);
    return registry.groups.changeVehicles(groupId, change, dryRun);
  }

  /** Grants accounts access to a group and revokes that of others: all of them, or none. */
  async changeUsersOfGroup(groupId: GroupId, change: MemberChange<UserId>, dryRun: boolean): Promise<MembersChanged> {
    const { registry, directory } = this.#scope.sources;
    await this.#requireGroup(groupId);
    for (const list of ['add', 'remove'] as const)
      this.#changeable(change[list], `/${list}`, 'account', directory.users, rightToUser);
    return registry.groups.changeUsers(groupId, change, dryRun);
  }

  async #requireGroup(id: GroupId): Promise<void> {
    this.#scope.requireManager();
    if (rightToGroup(this.#scope.caller, await this.#scope.access.groups.get(id)) !== 'write')
      throw seenOnly('the group');
  }

  /**
   * The objects that a request names.
   *
   * @throws {Problem} when the caller does not see some of them, or may not change them
   */
  #changeable<Id extends string, T>(
    ids: readonly Id[],
    pointer: string,
    noun: string,
    known: { get(id: Id): T | undefined },
    rightTo: (caller: User, thing: T) => Right,
  ): T[] {
    const faults = new Faults();
    const things = ids.flatMap((id, nth) => {
      const thing = known.get(id);
      if (thing !== undefined && rightTo(this.#scope.caller, thing) !== 'none') return [thing];
      faults.add({ pointer: `${pointer}/${nth}`, detail: `There is no such ${noun}.` });
      return [];
    });
    faults.throwIfAny();
    if (things.some((thing) => rightTo(this.#scope.caller, thing) !== 'write')) throw seenOnly(`each ${noun}`);
    return things;
  }
}

function seenOnly(what: string): Problem {
  return new Problem('forbidden', `This account may see ${what}, but may not change it.`);
}
