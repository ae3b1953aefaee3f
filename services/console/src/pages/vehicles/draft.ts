import { type NewVehicle, NewVehicleFields, type Vehicle, type VehiclePatch } from '@outrider/client';
import { type CustomAttributes, customPatch } from '../../custom-fields/attributes.ts';
import { blankOf } from '../../parts/forms/plain-field.tsx';

/** Sensors and the suspension have forms of their own. */
type Fields = Omit<Vehicle, 'id' | 'terminalAccess' | 'sensors' | 'suspension' | 'historyFrom'>;
type Protocol = Vehicle['terminalAccess']['protocol'];

/** Form state of a vehicle: the access of its terminal, and the other fields. */
export interface VehicleDraft extends Fields {
  protocol: Protocol;
  /** Empty: unchanged; null: removed. */
  secret: string | null;
  certificateSha256: string | null;
  /** Separated by spaces or commas. */
  networks: string;
}

/** JSON pointers of the fields that are nested in the body. */
export const POINTERS = {
  protocol: '/terminalAccess/protocol',
  secret: '/terminalAccess/secret',
  certificateSha256: '/terminalAccess/certificateSha256',
  networks: '/terminalAccess/networks',
} as const;

/** A new vehicle with the defaults of the API. */
export function newDraft(more: Partial<VehicleDraft> = {}): VehicleDraft {
  const defaults = blankOf(NewVehicleFields) as Omit<Fields, 'groupIds' | 'customAttributes'>;
  const access = { protocol: 'learn' as const, secret: '', certificateSha256: null, networks: '' };
  return { ...defaults, dealerId: null, groupIds: [], customAttributes: {}, ...access, ...more };
}

export function draftOf({
  id: _,
  terminalAccess,
  sensors: __,
  suspension: ___,
  historyFrom: ____,
  ...fields
}: Vehicle): VehicleDraft {
  const { protocol, certificateSha256, networks } = terminalAccess;
  return { ...fields, protocol, secret: '', certificateSha256, networks: networks.join(' ') };
}

/**
 * Body for the API: all fields of a new vehicle, or the changed fields of an existing one.
 *
 * @param before attributes of the vehicle as loaded
 */
export function bodyOf(draft: Partial<VehicleDraft>, before: CustomAttributes = {}): NewVehicle & VehiclePatch {
  const { protocol, secret, certificateSha256, networks, ...fields } = customPatch(before, draft);
  const terminalAccess = {
    ...(protocol === undefined ? {} : { protocol }),
    ...(secret === undefined || secret === '' ? {} : { secret }),
    ...(certificateSha256 === undefined ? {} : { certificateSha256 }),
    ...(networks === undefined ? {} : { networks: networks.split(/[\s,;]+/).filter((text) => text !== '') }),
  };
  const isSaid = Object.keys(terminalAccess).length > 0;
  return { ...fields, ...(isSaid ? { terminalAccess } : {}) } as NewVehicle & VehiclePatch;
}
