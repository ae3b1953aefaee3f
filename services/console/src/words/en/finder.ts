import { counted } from '../counted.ts';

export const finder = {
  placeholder: 'Vehicle, place, driver, report, screen',
  none: 'Nothing found',
  groups: {
    vehicles: 'Vehicles',
    geofences: 'Geofences',
    drivers: 'Drivers',
    groups: 'Groups',
    reports: 'Reports',
    screens: 'Screens',
    actions: 'Actions',
  },
  actions: {
    vehicle: 'Add a vehicle',
    importVehicles: 'Import vehicles from a CSV file',
    group: 'Add a group',
    driver: 'Add a driver',
    assign: 'Assign a driver',
    user: 'Add a user',
    rule: 'Add a notification rule',
    plan: 'Add a maintenance plan',
    video: 'Request a video',
    light: 'Light theme',
    dark: 'Dark theme',
    auto: 'System theme',
  },
  trackOf: (name: string) => `Track of ${name}`,
  eventsOf: (name: string) => `Events of ${name} today`,
  settingsOf: (name: string) => `Settings of ${name}`,
  more: (count: number) => `${counted('en', count, { one: '# more', other: '# more' })}: keep typing to find them`,
  found: (count: number) => counted('en', count, { one: '# result', other: '# results' }),
};
