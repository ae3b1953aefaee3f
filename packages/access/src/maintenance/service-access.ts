import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  type MaintenancePlan,
  SERVICE_FILE_TYPES,
  type ServiceFile,
  type ServiceFileId,
  type ServiceRecord,
  type ServiceRecordId,
  serviceFileTypeOf,
  type Vehicle,
} from '@outrider/domain';
import type { NotedServiceFile, Page, Paging, ServiceFields } from '@outrider/registry';
import { badField, notFound } from '../problem.ts';
import { bounded } from '../registry-refusals.ts';
import { AHEAD_MS, type MaintenanceScope, NOT_COUNTED } from './maintenance-scope.ts';

/** Service records of the vehicles that one caller may see, with their files. */
export class ServiceAccess {
  readonly #scope: MaintenanceScope;

  constructor(scope: MaintenanceScope) {
    this.#scope = scope;
  }

  records(vehicle: Vehicle, paging: Paging): Promise<Page<ServiceRecord>> {
    return this.#scope.sources.registry.serviceRecords.list([vehicle.id], paging);
  }

  async addRecord(
    vehicle: Vehicle,
    wish: Omit<ServiceFields, 'vehicleId' | 'createdBy' | 'title'> & { title: string | null },
    nowMs: number,
  ): Promise<ServiceRecord> {
    this.#scope.requireMaintainer();
    if (wish.atMs > nowMs + AHEAD_MS) throw badField('/at', 'It must not be in the future.');
    let { title } = wish;
    if (wish.planId !== null) {
      const plan = (await this.#scope.visiblePlans()).find(({ id }) => id === wish.planId);
      if (plan === undefined) throw badField('/planId', 'There is no such maintenance plan.');
      if (!isFor(plan, vehicle)) throw badField('/planId', 'This plan is not for the vehicle.');

      await this.#scope.requireHistory(vehicle.id, '/at', wish.atMs, NOT_COUNTED);
      title ??= plan.name;
    }
    if (title === null) throw badField('/title', 'It is required if no plan is named.');
    const fields = { ...wish, title, vehicleId: vehicle.id, createdBy: this.#scope.caller.id };
    const record = await bounded(this.#scope.sources.registry.serviceRecords.add(fields));
    await this.#scope.changed();
    return record;
  }

  async removeRecord(vehicle: Vehicle, id: ServiceRecordId): Promise<void> {
    this.#scope.requireMaintainer();
    await this.#record(vehicle, id);
    const { registry, serviceFiles } = this.#scope.sources;
    const files = await registry.serviceRecords.remove(id);
    await this.#scope.changed();
    for (const file of files) await serviceFiles.delete(file.id);
  }

  /**
   * Attaches a file to a record. If the process crashes in between, no record references the file, and it is removed
   * later.
   */
  async addFile(vehicle: Vehicle, recordId: ServiceRecordId, name: string, content: Uint8Array): Promise<ServiceFile> {
    this.#scope.requireMaintainer();
    await this.#record(vehicle, recordId);
    const mediaType = serviceFileTypeOf(content);
    if (mediaType === null) throw badField('/content', `It must be one of ${SERVICE_FILE_TYPES.join(', ')}.`);
    const { registry, serviceFiles } = this.#scope.sources;
    const file = { id: randomUUID() as string as ServiceFileId, name, mediaType };
    const stored = await serviceFiles.put(file.id, Readable.from([content]));
    try {
      await bounded(registry.serviceRecords.addFile(recordId, { ...file, ...stored }, this.#scope.caller.id));
    } catch (error) {
      await serviceFiles.delete(file.id);
      throw error;
    }
    return { ...file, bytes: stored.bytes };
  }

  async file(vehicle: Vehicle, recordId: ServiceRecordId, id: ServiceFileId): Promise<NotedServiceFile> {
    await this.#record(vehicle, recordId);
    const { registry, serviceFiles } = this.#scope.sources;
    const file = await registry.serviceRecords.file(recordId, id);
    if (file === null || (await serviceFiles.info(id)) === null) throw notFound();
    return file;
  }

  /** Streams the bytes of a file that {@link file} returned. */
  async *fileBytes({ id }: ServiceFile, start: number, end: number): AsyncIterable<Uint8Array> {
    const bytes = await this.#scope.sources.serviceFiles.get(id, { start, end });
    if (bytes === null) throw new Error(`the file ${id} of a service was deleted meanwhile`);
    yield* bytes;
  }

  async removeFile(vehicle: Vehicle, recordId: ServiceRecordId, id: ServiceFileId): Promise<void> {
    this.#scope.requireMaintainer();
    const { files } = await this.#record(vehicle, recordId);
    if (!files.some((file) => file.id === id)) throw notFound();
    await this.#scope.sources.registry.serviceRecords.removeFile(recordId, id);
    await this.#scope.sources.serviceFiles.delete(id);
  }

  async #record(vehicle: Vehicle, id: ServiceRecordId): Promise<ServiceRecord> {
    const record = await this.#scope.sources.registry.serviceRecords.get(id);
    if (record?.vehicleId !== vehicle.id) throw notFound();
    return record;
  }
}

function isFor(plan: MaintenancePlan, vehicle: Vehicle): boolean {
  if (plan.vehicleId !== null) return plan.vehicleId === vehicle.id;
  return plan.groupId !== null && vehicle.groupIds.includes(plan.groupId) && plan.dealerId === vehicle.dealerId;
}
