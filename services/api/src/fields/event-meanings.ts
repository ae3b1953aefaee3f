import { type Alarm, DESCRIBED_KINDS } from '@outrider/domain';

/** Meaning of each alarm of a terminal, in the order in which the documentation lists them. */
export const ALARM_MEANINGS: Readonly<Record<Exclude<Alarm, 'power-cut'>, string>> = {
  sos: 'The panic button was pressed.',
  'low-battery': 'The battery of the terminal is low.',
  tamper: 'The terminal was opened, moved or disconnected.',
  overspeed: 'The speed exceeds the limit configured in the terminal.',
  crash: 'The terminal measured an impact.',
  'harsh-acceleration':
    'The vehicle accelerated hard. This alarm and the two below become `harsh-driving` events; rules that select them as alarms match as well.',
  'harsh-braking': 'The vehicle braked hard.',
  'harsh-cornering': 'The vehicle cornered hard.',
  towing: 'The vehicle is moved with the ignition off.',
  jamming: 'The radio or the satellite signal is jammed.',
  other: 'Any other alarm of the terminal.',
  'terminal-conflict': 'Two devices send with the same terminal id at the same time. Raised by the gateway.',
};

/** Tables of the causes of each kind of event, and of the alarms, as Markdown. */
export function eventTables(): string {
  const table = (head: string, meanings: Readonly<Record<string, string>>) =>
    [
      `| ${head} | cause |`,
      '|---|---|',
      ...Object.entries(meanings).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
    ].join('\n');
  const events = Object.entries(DESCRIBED_KINDS).map(([kind, { meaning }]) => [kind, meaning]);
  return `${table('event', Object.fromEntries(events))}\n\n${table('alarm', ALARM_MEANINGS)}`;
}
