import type { Geozone, User } from '@outrider/client';

type Owned = Pick<Geozone['properties'], 'ownerId' | 'sharedWithOrganisation' | 'sharedGroupIds'>;
type Viewer = (Pick<User, 'id' | 'role'> & { rights: readonly User['rights'][number][] }) | null | undefined;

export const WHOSE = ['own', 'shared', 'others'] as const;
/** `shared`: other people's geofences that they share. `others`: those that only operators and dealers see. */
export type Whose = (typeof WHOSE)[number];

export function whoseOf({ ownerId, sharedWithOrganisation, sharedGroupIds }: Owned, viewer: Viewer): Whose {
  if (ownerId === viewer?.id) return 'own';
  return sharedWithOrganisation || sharedGroupIds.length > 0 ? 'shared' : 'others';
}

/** Whether the viewer may have geofences of their own. */
export function mayDraw(viewer: Viewer): boolean {
  return viewer?.role !== 'user' || viewer.rights.includes('edit-geofences');
}

/** Whether the viewer may change the geofence. The API checks it again. */
export function mayChange(geofence: Owned, viewer: Viewer): boolean {
  const whose = whoseOf(geofence, viewer);
  if (viewer?.role === 'user') return whose === 'own' && mayDraw(viewer);
  return viewer?.role === 'operator' || whose === 'own' || whose === 'shared';
}

/** Categories in use, by name. */
export function categoriesOf(geofences: readonly Geozone[], language: string): string[] {
  const found = new Set(geofences.flatMap(({ properties }) => properties.category ?? []));
  return [...found].sort(new Intl.Collator(language, { numeric: true }).compare);
}

/** Filter of a list of geofences; null: all. */
export interface GeofenceFilter {
  search: string;
  category: string | null;
  whose: Whose | null;
}

/** Value in the address for geofences without a category. */
export const NO_CATEGORY = '-';

export function matches({ properties }: Geozone, filter: GeofenceFilter, viewer: Viewer): boolean {
  const { search, category, whose } = filter;
  if (!properties.name.toLowerCase().includes(search)) return false;
  if (category !== null && (properties.category ?? NO_CATEGORY) !== category) return false;
  return whose === null || whoseOf(properties, viewer) === whose;
}
