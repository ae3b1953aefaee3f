import type { DefinitionChange, User, VideoProfile } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../parts/lists/pages.ts';
import { api, user } from '../session.ts';

const PAGE = 1000;

/** The video profiles that the user may see, by vehicle; null: not read yet. */
export const videoProfiles = signal<ReadonlyMap<string, VideoProfile> | null>(null);
let reading: Promise<void> | null = null;

/** Operators and dealers may use the video service; users only if the right was granted to them. */
export function mayUseVideo({ role, services }: User): boolean {
  return role !== 'user' || services.includes('video');
}

/** Reads the profiles, unless they are being read. @throws {ApiError} {ConnectionError} */
export function readVideoProfiles(): Promise<void> {
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

/** The profile of a vehicle, once loaded. The first call loads all profiles. */
export function videoProfileOf(vehicleId: string): VideoProfile | undefined {
  if (user.value == null || !mayUseVideo(user.value)) return undefined;
  // Without profiles there is no button: the video screen shows the reason.
  if (videoProfiles.value === null) void readVideoProfiles().catch(() => {});
  return videoProfiles.value?.get(vehicleId);
}

export function forgetVideoProfiles(): void {
  videoProfiles.value = null;
}

/** Reads the profiles again where one of them was made, changed or removed. */
export function rereadVideoProfiles(changes: readonly DefinitionChange[]): void {
  if (videoProfiles.peek() === null || changes.every(({ kind }) => kind !== 'video-profile')) return;
  // Without a connection, they are loaded after the next change, or by the video screen.
  void readVideoProfiles().catch(() => {});
}

async function read(): Promise<void> {
  const all = await allPages((cursor) => api.get('/service/ovms/api/profiles', { query: { limit: PAGE, ...cursor } }));
  videoProfiles.value = new Map(all.map((profile) => [profile.vehicleId, profile]));
}
