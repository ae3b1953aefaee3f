import { NewReportJobFields } from '@outrider/client';
import { drivers } from '../drivers/drivers.ts';
import { fleet, geofences, groups } from '../fleet/store.ts';
import { trackLink } from '../links.ts';
import { titleOfKind } from '../pages/reports/kinds.ts';
import type { IconName } from '../parts/icon.tsx';
import { type Preferences, preferences } from '../preferences.ts';
import { hasRight, keepsAccounts } from '../rights.ts';
import { openViews, VIEWS } from '../screens.ts';
import { user } from '../session.ts';
import { mayUseVideo } from '../video/profiles.ts';
import { t } from '../words/words.ts';
import type { Entry } from './find.ts';
import { finderWords } from './words.ts';

export type FinderGroup = keyof ReturnType<typeof finderWords>['groups'];

/** A result of the search: a page to open or an action to run. */
export interface FinderEntry extends Entry<FinderGroup> {
  icon: IconName;
  to: string | (() => void);
}

const some = (texts: readonly (string | null | undefined)[]): string[] =>
  texts.filter((text): text is string => typeof text === 'string' && text !== '');

/** Everything that the user can open or do. */
export function allEntries(): FinderEntry[] {
  return [...vehicleEntries(), ...thingEntries(), ...reportEntries(), ...screenEntries(), ...actionEntries()];
}

/** Entries that are shown before anything is typed. */
export function firstEntries(): FinderEntry[] {
  return [...screenEntries(), ...actionEntries()];
}

/** Further actions for a vehicle. */
export function entriesOfVehicle({ id, label }: FinderEntry): FinderEntry[] {
  const words = finderWords();
  const vehicleId = id.slice(id.indexOf(' ') + 1);
  const of = (what: string, icon: IconName, text: string, to: string): FinderEntry => ({
    id: `${what} ${vehicleId}`,
    group: 'vehicles',
    label: text,
    hints: [],
    icon,
    to,
  });
  const mayEdit = user.value && hasRight(user.value, 'edit-vehicles');
  return [
    of('track', 'track', words.trackOf(label), trackLink({ vehicleId })),
    of('events', 'chart', words.eventsOf(label), `/reports?kind=events&vehicle=${vehicleId}&range=today`),
    ...(mayEdit ? [of('settings', 'edit', words.settingsOf(label), `/vehicles?vehicle=${vehicleId}`)] : []),
  ];
}

function vehicleEntries(): FinderEntry[] {
  return fleet.vehicles.map(({ id, name, plate, terminalId, externalId }) => ({
    id: `vehicle ${id}`,
    group: 'vehicles',
    label: name,
    hints: some([plate, terminalId, externalId]),
    icon: 'truck',
    to: `/?vehicle=${id}`,
  }));
}

function thingEntries(): FinderEntry[] {
  const places = geofences.value.map(
    ({ id, properties: { name, category, externalId } }): FinderEntry => ({
      id: `geofence ${id}`,
      group: 'geofences',
      label: name,
      hints: some([category, externalId]),
      icon: 'fence',
      to: `/geofences?geofence=${id}`,
    }),
  );
  const people = (drivers.value ?? []).map(
    ({ id, name, phone, codes, externalId }): FinderEntry => ({
      id: `driver ${id}`,
      group: 'drivers',
      label: name,
      hints: some([phone, ...codes, externalId]),
      icon: 'driver',
      to: `/drivers?driver=${id}`,
    }),
  );
  const keeps = user.value && keepsAccounts(user.value);
  const inGroups = groups.value.map(
    ({ id, name, externalId }): FinderEntry => ({
      id: `group ${id}`,
      group: 'groups',
      label: name,
      hints: some([externalId]),
      icon: 'group',
      to: keeps ? `/groups?group=${id}` : `/?group=${id}`,
    }),
  );
  return [...places, ...people, ...inGroups];
}

function reportEntries(): FinderEntry[] {
  return NewReportJobFields.kind.values.map((kind) => ({
    id: `report ${kind}`,
    group: 'reports',
    label: titleOfKind(kind),
    hints: [],
    icon: 'chart',
    to: `/reports?kind=${kind}`,
  }));
}

function screenEntries(): FinderEntry[] {
  if (!user.value) return [];
  return openViews(VIEWS, user.value).map(({ path, icon, title }) => ({
    id: `screen ${path}`,
    group: 'screens',
    label: title(t()),
    hints: [],
    icon,
    to: path,
  }));
}

function actionEntries(): FinderEntry[] {
  if (!user.value) return [];
  const words = finderWords().actions;
  const keeps = keepsAccounts(user.value);
  const theme = (value: Preferences['theme']) => () => {
    preferences.value = { ...preferences.peek(), theme: value };
  };
  const actions: [name: keyof typeof words, icon: IconName, to: FinderEntry['to'], isAllowed: boolean][] = [
    ['vehicle', 'plus', '/vehicles?vehicle=new', keeps],
    ['importVehicles', 'upload', '/vehicles?import=1', keeps],
    ['group', 'plus', '/groups?group=new', keeps],
    ['driver', 'plus', '/drivers?driver=new', keeps],
    ['assign', 'driver', '/drivers?view=assignments&assign=1', keeps],
    ['user', 'plus', '/users?user=new', keeps],
    ['rule', 'plus', '/rules?rule=new', hasRight(user.value, 'edit-notifications')],
    ['plan', 'plus', '/maintenance?view=plans&plan=new', keeps],
    ['video', 'video', '/video?order=1', mayUseVideo(user.value)],
    ['light', 'palette', theme('light'), true],
    ['dark', 'palette', theme('dark'), true],
    ['auto', 'palette', theme('auto'), true],
  ];
  return actions
    .filter(([, , , isAllowed]) => isAllowed)
    .map(([name, icon, to]) => ({ id: `action ${name}`, group: 'actions', label: words[name], hints: [], icon, to }));
}
