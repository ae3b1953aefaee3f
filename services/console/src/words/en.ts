import { en as names } from '@outrider/words/en';
import { counted } from './counted.ts';
import { app } from './en/app.ts';
import { commands } from './en/commands.ts';
import { drivers } from './en/drivers.ts';
import { fences } from './en/geofences.ts';
import { maintenance } from './en/maintenance.ts';
import { fleetMap } from './en/map.ts';
import { maps } from './en/maps.ts';
import { me } from './en/me.ts';
import { parts } from './en/parts.ts';
import { rules } from './en/rules.ts';
import { share } from './en/share.ts';
import { terminals } from './en/terminals.ts';
import { replay } from './en/track.ts';
import { vehicles } from './en/vehicles.ts';
import { video } from './en/video.ts';

export const en = {
  app,
  commands,
  me,
  fleetMap,
  maintenance,
  parts,
  maps,
  fences,
  drivers,
  replay,
  share,
  video,
  rules,
  terminals,
  vehiclePages: vehicles,
  // Shell
  skipToContent: 'Skip to content',
  menu: 'Menu',
  manage: 'Manage',
  viewGroups: { work: 'Work', fleet: 'Fleet', administration: 'Administration' },
  pages: {
    forwarding: 'Forwarding',
    users: 'Users',
    reports: 'Reports',
    operator: 'Service',
    map: 'Map',
    track: 'Track',
    geofences: 'Geofences',
    notifications: 'Notifications',
    vehicles: 'Vehicles',
    groups: 'Groups',
    terminals: 'Terminals',
  },
  documentation: 'API documentation',
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
  forgotPassword: 'Forgot your password?',
  wrongCredentials: 'Login or password is wrong.',
  accountBlocked: 'This account is blocked. Ask those who manage it.',
  accountExpired: 'The time of this account is over. Ask those who manage it.',
  tooManyCalls: (seconds: number) =>
    `Many calls in a short time. It goes on in ${counted('en', seconds, { one: '# second', other: '# seconds' })}.`,
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
  states: names.states,
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
  coordinates: 'Coordinates',
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
  events: names.events,
  phases: { begin: 'begins', end: 'ends' } as Record<string, string>,

  // Track and replay
  trackOf: 'Track of',
  play: 'Play',
  pause: 'Pause',
  playbackSpeed: 'Playback speed',
  time: 'Time',
  chooseVehicle: 'Choose a vehicle',
  noTrack: 'No positions in this time',
  stops: 'Stops',
  trips: 'Trips',
  stopOf: (duration: string) => `Stop of ${duration}`,
  distance: 'Distance',
  highestSpeed: 'Highest speed',
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

  // Geofences
  geofence: 'Geofence',
  newGeofence: 'New geofence',
  newPolygon: 'New polygon',
  newCircle: 'New circle',
  drawPolygon: 'Click the corners on the map; click the first one again to finish.',
  drawCircle: 'Click the centre on the map, then the edge.',
  name: 'Name',
  radiusM: 'Radius, m',
  widthM: 'Width, m',
  speedLimitKmh: 'Speed limit, km/h',
  minDwellSeconds: 'Shortest stay, seconds',
  save: 'Save',
  delete: 'Delete',
  cancel: 'Cancel',
  deleteGeofence: (name: string) => `Delete “${name}”? Visits to it end.`,
  geofenceSaved: 'The geofence was saved.',
  geofenceDeleted: 'The geofence was deleted.',
  changedMeanwhile: 'Somebody else has changed this geofence meanwhile. Nothing was saved.',
  showTheirs: 'Show their version',
  noGeofences: 'No geofences yet',
  noGeofencesHint: 'Draw a polygon or a circle on the map.',
  noGeofenceFound: 'No geofence matches',
  shapes: { polygon: 'Polygon', multipolygon: 'Polygons', circle: 'Circle', line: 'Line' },
};

/** The words of a language: every one of English. */
export type Words = typeof en;
