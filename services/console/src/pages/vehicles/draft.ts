import { type NewVehicle, NewVehicleFields, type Vehicle, type VehiclePatch } from '@outrider/client';
import { type CustomAttributes, customPatch } from '../../custom-fields/attributes.ts';
import { blankOf } from '../../parts/forms/plain-field.tsx';

/** Sensors have a form of their own, and so has the suspension. */
type Fields = Omit<Vehicle, 'id' | 'terminalAccess' | 'sensors' | 'suspension' | 'historyFrom'>;
type Protocol = Vehicle['terminalAccess']['protocol'];

/** A vehicle as its form has it: the access of its terminal beside the other fields. */
export interface VehicleDraft extends Fields {
  protocol: Protocol;
  /** Empty: as it is; null: none any more. */
  secret: string | null;
  certificateSha256: string | null;
  /** Parted by spaces or commas. */
  networks: string;
}

/** Pointers of what does not stand at the top of the body. */
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
 * The fields as the API takes them: of a new vehicle all, of another those that were changed.
 *
 * @param before attributes of the vehicle as it was read
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
