import { counted } from './counted.ts';

/** A vehicle's state, as the API names it. */
type State = 'moving' | 'parking' | 'idling' | 'offline' | 'unknown';

export const en = {
  // Shell
  skipToContent: 'Skip to content',
  menu: 'Menu',
  pages: { map: 'Map', track: 'Track', notifications: 'Notifications' },
  documentation: 'API documentation',
  settings: 'Settings',
  logOut: 'Log out',
  loading: 'Loading…',
  close: 'Close',
  retry: 'Try again',
  loggedInAs: (name: string) => `Logged in as ${name}`,
  pageNotFound: 'There is no such page.',
  toTheMap: 'Go to the map',

  // Login
  login: 'Login',
  password: 'Password',
  logIn: 'Log in',
  loggingIn: 'Logging in…',
  wrongCredentials: 'Login or password is wrong.',
  tooManyAttempts: (seconds: number) =>
    `Too many attempts. Try again in ${counted('en', seconds, { one: '# second', other: '# seconds' })}.`,
  sessionEnded: 'Your session has ended. Log in to go on where you were.',

  // Errors and connection
  notReached: 'The service was not reached. Check your connection.',
  notAllowed: 'You do not have the right to see this.',
  somethingFailed: (detail: string) => `That did not work: ${detail}`,
  live: 'Live',
  connecting: 'Connecting…',
  offlineBanner: 'No connection to the service. Positions are not current; it keeps trying.',
  reconnected: (events: number) =>
    `Connected again. ${counted('en', events, { one: '# event was', other: '# events were' })} caught up.`,
  gap: 'Some events could not be caught up: the connection was lost for too long. Reports have them.',

  // Settings
  language: 'Language',
  theme: 'Theme',
  themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
  units: 'Units',
  unitSystems: { metric: 'Kilometres, litres', imperial: 'Miles, gallons' },
  timeZone: 'Time zone',
  ownTimeZone: (zone: string) => `Of this device (${zone})`,
  changePassword: 'Change password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  passwordChanged: 'The password was changed.',

  // Fleet
  states: {
    moving: 'Moving',
    idling: 'Idling',
    parking: 'Parked',
    offline: 'Offline',
    unknown: 'No data',
  } satisfies Record<State, string>,
  vehicles: 'Vehicles',
  vehicleList: 'List of vehicles',
  search: 'Search',
  searchVehicles: 'Name, plate or terminal',
  allGroups: 'All groups',
  group: 'Group',
  sortBy: 'Sort by',
  sorts: { name: 'Name', state: 'State', contact: 'Last contact' },
  favourite: 'Favourite',
  favouritesOnly: 'Favourites only',
  noVehicles: 'You have no vehicles yet',
  noVehiclesHint: 'Vehicles appear here once your account is given a group with vehicles.',
  nothingFound: 'No vehicle matches',
  clearFilter: 'Show all vehicles',
  showAll: 'Show all vehicles on the map',
  clusters: 'Group vehicles when there are many',
  showList: 'List',
  hideList: 'Hide the list',

  // Vehicle panel
  follow: 'Follow',
  following: 'Following',
  showTrack: 'Show track',
  state: 'State',
  since: (time: string) => `since ${time}`,
  speed: 'Speed',
  ignition: 'Ignition',
  on: 'On',
  off: 'Off',
  place: 'Position',
  lastContact: 'Last contact',
  lastFix: 'Last fix',
  fuel: 'Fuel',
  supply: 'Supply voltage',
  alarms: 'Alarms',
  never: 'Never',
  noPosition: 'No position yet',
  lastEvents: 'Events today',
  noEvents: 'No events today',
  tripsToday: 'Trips today',
  noTrips: 'No trips today',
  tripSummary: (distance: string, duration: string) => `${distance} in ${duration}`,
  ongoing: 'under way',
  notFoundVehicle: 'This vehicle does not exist, or you may no longer see it.',

  // Events
  events: {
    'geofence-visit': 'Geofence',
    speeding: 'Speeding',
    trip: 'Trip',
    parking: 'Parking',
    idling: 'Idling',
    ignition: 'Ignition',
    alarm: 'Alarm',
    'power-cut': 'Power cut',
    offline: 'Offline',
  } as Record<string, string>,
  phases: { begin: 'begins', end: 'ends' } as Record<string, string>,

  // Track and replay
  trackOf: 'Track of',
  day: 'Day',
  previousDay: 'Previous day',
  nextDay: 'Next day',
  play: 'Play',
  pause: 'Pause',
  playbackSpeed: 'Playback speed',
  time: 'Time',
  chooseVehicle: 'Choose a vehicle',
  noTrack: 'No positions in this time',
  noTrackHint: 'Choose another day, or another vehicle.',
  stops: 'Stops',
  trips: 'Trips',
  stopOf: (duration: string) => `Stop of ${duration}`,
  distance: 'Distance',
  highestSpeed: 'Highest speed',
  speedOverTime: 'Speed over time',
  speedLegend: 'Line by speed',

  // Notifications
  markAllRead: 'Mark all as read',
  markRead: 'Mark as read',
  noNotifications: 'No notifications',
  noNotificationsHint: 'Notification rules decide what arrives here.',
  unreadCount: (count: number) => counted('en', count, { one: '# unread', other: '# unread' }),
  unreadOnly: 'Unread only',
  older: 'Show older',
  foundLater: 'found later',
  showOnMap: 'Show on the map',
};

/** The words of a language: every one of English. */
export type Words = typeof en;
