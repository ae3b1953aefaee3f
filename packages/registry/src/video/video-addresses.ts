import {
  addressesOfTerminal,
  phoneAddress,
  type TerminalId,
  terminalIdsOfAddress,
  type UserId,
  type Vehicle,
  type VehicleId,
  type VideoProfile,
} from '@outrider/domain';
import { ConflictError } from '../store/errors.ts';
import { inChunks } from '../store/lists.ts';
import type { Reader, Writer } from '../store/store.ts';

/** The vehicle that has the terminal of an address. */
export interface AddressOwner {
  id: VehicleId;
  dealerId: UserId | null;
}

type Address = Pick<VideoProfile, 'protocol' | 'address'>;

/**
 * Key that must be unique among profiles: a terminal identifies itself by its number, so two profiles must not share
 * it. Null for a URL, which may serve many vehicles.
 */
export function addressKey({ protocol, address }: Address): string | null {
  return protocol === 'jt1078' ? `${protocol} ${phoneAddress(address)}` : null;
}

/** @returns null where no vehicle has this terminal, and for a URL */
export async function ownerOfAddress(db: Reader, address: Address): Promise<AddressOwner | null> {
  return (await ownersOf(db, [address]))(address);
}

async function ownersOf(db: Reader, addresses: readonly Address[]): Promise<(address: Address) => AddressOwner | null> {
  const owners = new Map<TerminalId, AddressOwner>();
  const wanted = addresses.flatMap(candidates);
  for (const some of inChunks(wanted)) {
    const rows = await db
      .selectFrom('vehicles')
      .select(['id', 'terminalId', 'dealerId'])
      .where('terminalId', 'in', some)
      .execute();
    for (const { id, terminalId, dealerId } of rows)
      owners.set(terminalId as TerminalId, { id: id as VehicleId, dealerId: dealerId as UserId | null });
  }
  return (address) => {
    for (const terminalId of candidates(address)) {
      const owner = owners.get(terminalId);
      if (owner !== undefined) return owner;
    }
    return null;
  };
}

function candidates({ protocol, address }: Address): TerminalId[] {
  return protocol === 'jt1078' ? terminalIdsOfAddress(address) : [];
}

/** Fields of a vehicle that decide which video it may have. */
type Owned = Pick<Vehicle, 'id' | 'terminalId' | 'dealerId'>;

/** Vehicles that got another terminal or another dealer: their addresses must be checked again. */
export function changedOwners<T extends Owned>(writes: readonly { current: T | null; next: T }[]): T[] {
  return writes.flatMap(({ current, next }) =>
    current !== null && current.terminalId === next.terminalId && current.dealerId === next.dealerId ? [] : [next],
  );
}

/**
 * Finds vehicles that may not have their terminal, or their dealer, because the profile of one dealer's vehicle would
 * have the address of another dealer's terminal. Within one dealer, a profile may keep the address of a terminal that
 * was moved to another vehicle; nothing is fetched by it.
 *
 * @param vehicles as they are in the tables after the change
 */
export async function addressConflicts(
  { tx }: Pick<Writer, 'tx'>,
  vehicles: readonly Owned[],
): Promise<Map<VehicleId, ConflictError>> {
  const profiles = new Map<string, Address & { vehicleId: VehicleId; dealerId: UserId | null }>();
  const rowsOf = () =>
    tx
      .selectFrom('videoProfiles')
      .innerJoin('vehicles', 'vehicles.id', 'videoProfiles.vehicleId')
      .select(['videoProfiles.id as id', 'protocol', 'address', 'vehicleId', 'dealerId'])
      .where('protocol', '=', 'jt1078');
  const note = (rows: Awaited<ReturnType<ReturnType<typeof rowsOf>['execute']>>) => {
    for (const { id, protocol, address, vehicleId, dealerId } of rows)
      profiles.set(id, {
        protocol: protocol as VideoProfile['protocol'],
        address,
        vehicleId: vehicleId as VehicleId,
        dealerId: dealerId as UserId | null,
      });
  };
  const addresses = vehicles.flatMap(({ terminalId }) => (terminalId === null ? [] : addressesOfTerminal(terminalId)));
  for (const some of inChunks(addresses)) {
    const keys = some.map((address) => `jt1078 ${address}`);
    note(
      await rowsOf()
        .where((e) => e.or([e('addressKey', 'in', keys), e('address', 'in', some)]))
        .execute(),
    );
  }
  for (const some of inChunks(vehicles.map(({ id }) => id)))
    note(await rowsOf().where('vehicleId', 'in', some).execute());

  const ownerOf = await ownersOf(tx, [...profiles.values()]);
  const changed = new Map(vehicles.map((vehicle) => [vehicle.id, vehicle]));
  const conflicts = new Map<VehicleId, ConflictError>();
  for (const profile of profiles.values()) {
    const owner = ownerOf(profile);
    if (owner === null || owner.id === profile.vehicleId || owner.dealerId === profile.dealerId) continue;
    for (const id of [owner.id, profile.vehicleId]) {
      const vehicle = changed.get(id);
      if (vehicle !== undefined)
        conflicts.set(id, new ConflictError('video-profile', 'terminalId', vehicle.terminalId ?? profile.address));
    }
  }
  return conflicts;
}

/** Whether the profile's vehicle has the terminal of its address, or no vehicle has that terminal. */
export async function mayBeFetched(db: Reader, profile: Address & Pick<VideoProfile, 'vehicleId'>): Promise<boolean> {
  const owner = await ownerOfAddress(db, profile);
  return owner === null || owner.id === profile.vehicleId;
}
