import type { Alarm, EventKind } from '@outrider/domain';

/** What makes an event of each kind, for the documentation; in the order in which it shows them. */
export const EVENT_MEANINGS: Readonly<Record<EventKind, string>> = {
  'geofence-visit':
    'The vehicle is inside a geofence that watches it: `begin` is the entry, `end` the exit. It ends as well when the geofence is changed or deleted.',
  speeding:
    'It is faster than its own limit, or than that of a geofence that it is in, by the tolerance and for the time that are set there.',
  trip: 'It is on its way: from the first fix that moves to the first of the stop that ends it, or to a gap in the data.',
  parking: 'It stands between trips with the ignition off, or not known.',
  idling: 'It stands between trips with the ignition on.',
  ignition: 'The ignition is on, by the terminal.',
  alarm:
    'The terminal raises an alarm, from the first record that says so to the first that does not; `alarm` says which. Harsh driving is also found in the positions, where the vehicle has limits for it.',
  'power-cut': 'The terminal says that it is without external power.',
  offline: 'Nothing came from the terminal for the time that is set for the vehicle, by the clock of the service.',
  'maintenance-due':
    'A service of a maintenance plan is near (`stage` `warning`) or due, by distance, engine hours or days, whichever comes first.',
  'driver-shift':
    'A driver drives it, by the code that the terminal sends: until the card is removed, another driver comes, or the vehicle stands for long.',
  refuelling: 'The level of the tank rises by more than the settings of its sensor say.',
  'fuel-drain': 'The level falls by more than those settings say, and by more than the engine burns.',
  'sensor-threshold': 'The value of a sensor is beyond one of the thresholds that are set for it.',
};

/** What each alarm of a terminal says, in the same way. */
export const ALARM_MEANINGS: Readonly<Record<Exclude<Alarm, 'power-cut'>, string>> = {
  sos: 'The panic button was pressed.',
  'low-battery': 'The battery of the terminal is low.',
  tamper: 'The terminal was opened, moved or disconnected.',
  overspeed: 'The terminal finds a speed above the limit that is set in itself.',
  crash: 'It measured an impact.',
  'harsh-acceleration': 'Speed rose fast: by the terminal, or by the positions where the vehicle has a limit for it.',
  'harsh-braking': 'Speed fell fast, in the same way.',
  'harsh-cornering': 'A bend was taken fast, in the same way.',
  towing: 'The vehicle is moved with the ignition off.',
  jamming: 'The radio or the satellite signal is jammed.',
  other: 'An alarm of the terminal that has no name of its own here.',
  'terminal-conflict': 'Two devices send under the same terminal id at the same time; the gateway raises it.',
};

/** Both lists as Markdown. */
export function eventTables(): string {
  const table = (head: string, meanings: Readonly<Record<string, string>>) =>
    [
      `| ${head} | what makes it |`,
      '|---|---|',
      ...Object.entries(meanings).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
    ].join('\n');
  return `${table('event', EVENT_MEANINGS)}\n\n${table('alarm', ALARM_MEANINGS)}`;
}
