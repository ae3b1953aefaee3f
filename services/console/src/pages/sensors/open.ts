import type { Vehicle } from '@outrider/client';
import { fleet } from '../../fleet/store.ts';
import { type Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { api } from '../../session.ts';
import { draftsOf, type SensorDraft } from './draft.ts';

export interface SensorsDraft {
  sensors: SensorDraft[];
}

export interface OpenedSensors {
  edit: Edit<SensorsDraft>;
  /** The vehicle as last loaded or saved. */
  vehicle: Vehicle;
}

/** @throws {ApiError} for a vehicle that the caller may not see; {ConnectionError} */
export async function openSensors(id: string, signal: AbortSignal): Promise<OpenedSensors> {
  const path = { id };
  const { edit, entity: vehicle } = await editStored<Vehicle, SensorsDraft>({
    read: (ending) => api.getTagged('/api/v1/vehicles/{id}', { path, ...ending }),
    draftOf: (read) => ({ sensors: draftsOf(read) }),
    async save(fields, tag) {
      fleet.put(await api.patch('/api/v1/vehicles/{id}', { path, headers: ifMatch(tag), body: fields }));
    },
    signal,
  });
  return { edit, vehicle };
}
