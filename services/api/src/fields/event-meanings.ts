import { type Alarm, DESCRIBED_KINDS } from '@outrider/domain';

/** Meaning of each alarm of a terminal, in the order in which the documentation lists them. */
export const ALARM_MEANINGS: Readonly<Record<Exclude<Alarm, 'power-cut'>, string>> = {
  sos: 'The panic button was pressed.',
  'low-battery': 'The battery of the terminal is low.',
  tamper: 'The terminal was opened, moved or disconnected.',
  overspeed: 'The terminal finds a speed above the limit that is set in itself.',
  crash: 'It measured an impact.',
  'harsh-acceleration':
    'Speed rose fast. As an event it is `harsh-driving`, as are the two below; rules that name alarms get it too.',
  'harsh-braking': 'Speed fell fast.',
  'harsh-cornering': 'A bend was taken fast.',
  towing: 'The vehicle is moved with the ignition off.',
  jamming: 'The radio or the satellite signal is jammed.',
  other: 'An alarm of the terminal that has no name of its own here.',
  'terminal-conflict': 'Two devices send under the same terminal id at the same time; the gateway raises it.',
};

/** Tables of the causes of each kind of event, and of the alarms, as Markdown. */
export function eventTables(): string {
  const table = (head: string, meanings: Readonly<Record<string, string>>) =>
    [
      `| ${head} | what makes it |`,
      '|---|---|',
      ...Object.entries(meanings).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
    ].join('\n');
  const events = Object.entries(DESCRIBED_KINDS).map(([kind, { meaning }]) => [kind, meaning]);
  return `${table('event', Object.fromEntries(events))}\n\n${table('alarm', ALARM_MEANINGS)}`;
}
