import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { gps103 } from './protocol.ts';
import { createGps103Simulator } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 1);

describeProtocol('GPS103', {
  protocol: gps103,
  terminalId: IMEI,
  createSimulator: createGps103Simulator,
  identifiesByData: true,
  hasSeveralFrames: true,
  resolution: { degrees: 0.51e-4 / 60, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

const line = (text: string) => Buffer.from(text, 'latin1');
function loggedIn() {
  const session = gps103.createSession();
  session.push(line(`##,imei:${IMEI},A;`), NOW_MS);
  return session;
}
/** A report of 15:00 by the clock of the terminal, 12:00 UTC; 55.755 north, 37.617 east, 32.40 knots. */
const report = (keyword: string, more = '', local = '260101150000', time = '120000.000') =>
  line(`imei:${IMEI},${keyword},${local},,F,${time},A,5545.3000,N,03737.0200,E,32.40,346${more};`);
const REPORT_OF = { fixTimeMs: Date.UTC(2026, 0, 1, 12), valid: true, speedKmh: 60, courseDeg: 346 };

describe('the lines of the maker’s description', () => {
  test('login and heartbeat', () => {
    const session = gps103.createSession();
    expect(session.push(line(`##,imei:${IMEI},A;`), NOW_MS)).toEqual([
      { type: 'identify', terminalId: IMEI, accept: line('LOAD'), reject: null },
    ]);
    expect(session.push(line(`${IMEI};`), NOW_MS)).toEqual([{ type: 'positions', positions: [], ack: line('ON') }]);
  });

  test('a report with its sensors', () => {
    expect(loggedIn().push(report('tracker', ',150.5,1,0,50.5%,20.0%,-7'), NOW_MS)).toMatchObject([
      {
        ack: null,
        positions: [
          {
            ...REPORT_OF,
            altitudeM: 151,
            ignition: true,
            alarms: [],
            attributes: { door1: false, fuel1Percent: 50.5, fuel2Percent: 20, temperature1C: -7 },
          },
        ],
      },
    ]);
  });

  test('a heartbeat that runs into a report, and a report of another form', () => {
    const joined = Buffer.concat([line(IMEI), report('tracker')]);
    expect(loggedIn().push(joined, NOW_MS)).toMatchObject([{ positions: [{ valid: true }] }]);
    const text = `imei:${IMEI},OBD,260101150000,65000,3.2,7.1,60,55%,90,14%,2100,14.2;`;
    expect(loggedIn().push(line(text), NOW_MS)).toMatchObject([
      { positions: [{ fixTimeMs: NOW_MS, valid: false, attributes: { report: 'OBD' } }] },
    ]);
  });

  test.each([
    // 01:00 of the second of January at UTC+3, …
    ['260102010000', '220000.000', Date.UTC(2026, 0, 1, 22)],
    // … 20:00 of the first at UTC-5, …
    ['260101200000', '010000.000', Date.UTC(2026, 0, 2, 1)],
    // … and a clock without seconds.
    ['2601011500', '120030.000', Date.UTC(2026, 0, 1, 12, 0, 30)],
  ])('the date of UTC follows from the local time %s', (local, time, fixTimeMs) => {
    expect(loggedIn().push(report('tracker', '', local, time), NOW_MS)).toMatchObject([{ positions: [{ fixTimeMs }] }]);
  });

  test.each([
    ['help me', { alarms: ['sos'] }, line(`**,imei:${IMEI},E;`)],
    ['ac alarm', { alarms: ['power-cut'] }, null],
    ['acc on', { ignition: true, alarms: [], attributes: { report: 'acc on' } }, null],
    ['acc off', { ignition: false, alarms: [] }, null],
    ['T:+28.5', { attributes: { temperature1C: 28.5 } }, null],
  ])('keyword %s', (keyword, expected, ack) => {
    expect(loggedIn().push(report(keyword), NOW_MS)).toMatchObject([{ positions: [expected], ack }]);
  });

  test('a report without a fix has the cell', () => {
    const text = `imei:${IMEI},tracker,260101150000,,L,,,1a2b,,3c4d,,,;`;
    expect(loggedIn().push(line(text), NOW_MS)).toMatchObject([
      { positions: [{ fixTimeMs: NOW_MS, valid: false, attributes: { lac: 0x1a2b, cellId: 0x3c4d } }] },
    ]);
  });

  test.each([
    ['a time that is none', report('tracker', '', '263101150000')],
    ['a place that is none', line(report('tracker').toString('latin1').replace('5545.3', '9945.3'))],
    ['a line of another kind', line('imei:1;')],
  ])('%s is left out, and ends nothing', (_, bytes) => {
    expect(loggedIn().push(bytes, NOW_MS)).toMatchObject([{ type: 'unread' }, { type: 'positions', positions: [] }]);
  });

  test.each([['another IMEI', line('356307042441021;')]])('%s ends the connection', (_, bytes) => {
    expect(loggedIn().push(bytes, NOW_MS)).toMatchObject([{ type: 'refuse' }]);
  });
});
