import type { Alarm } from '@outrider/domain';

/** Event codes of alarms; the simulator sends the first of several codes with the same meaning. */
export const ALARM_EVENTS: readonly (readonly [code: number, alarm: Alarm])[] = [
  [1, 'sos'],
  [17, 'low-battery'],
  [18, 'power-cut'],
  [19, 'overspeed'],
  [23, 'power-cut'],
  [29, 'power-cut'],
  [36, 'towing'],
  [44, 'jamming'],
  [70, 'tamper'],
  [79, 'crash'],
  [129, 'harsh-braking'],
  [130, 'harsh-acceleration'],
];
export const ALARM_OF = new Map(ALARM_EVENTS);
export const EVENT_TRACK = 35;
