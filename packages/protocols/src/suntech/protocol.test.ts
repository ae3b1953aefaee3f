import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { suntech } from './protocol.ts';
import { createSuntechSimulator } from './simulator.ts';

const ID = '205000001' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

describeProtocol('Suntech', {
  protocol: suntech,
  terminalId: ID,
  createSimulator: createSuntechSimulator,
  identifiesByData: true,
  resolution: { degrees: 0.51e-6, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

const answerTo = (text: string) =>
  suntech
    .createSession()
    .push(Buffer.from(`${text}\r`, 'latin1'), NOW_MS)
    .slice(1);
const report = (kind: string, code: string, more = '', cell = '00100') =>
  `ST300${kind};${ID};04;706;20260101;12:00:00;${cell};+55.755000;+037.617000;060.500;346.00;9;1;65000;12.21;110010;${code}${more}`;
const REPORT_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  latitude: 55.755,
  longitude: 37.617,
  valid: true,
  speedKmh: 60.5,
  courseDeg: 346,
  satellites: 9,
  odometerM: 65_000,
  supplyV: 12.21,
  ignition: true,
};

describe('the lines of the maker’s description', () => {
  test('a regular report names its terminal, and is not answered', () => {
    const bytes = Buffer.from(`${report('STT', '1', ';0072;90;4.1;1')}\r`);
    const [identify, inbound] = suntech.createSession().push(bytes, NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: ID, accept: null, reject: null });
    expect(inbound).toMatchObject({
      ack: null,
      positions: [
        {
          ...REPORT_OF,
          alarms: [],
          attributes: {
            report: 'STT',
            eventCode: 1,
            input1: true,
            input2: false,
            output1: true,
            output2: false,
            engineHours: 1.5,
            batteryV: 4.1,
          },
        },
      ],
    });
  });

  test('a model with more fields before the place', () => {
    expect(answerTo(report('STT', '1', '', '00100;250;1;1a2b;31'))).toMatchObject([{ positions: [REPORT_OF] }]);
  });

  test.each([
    ['EMG', '1', { alarms: ['sos'] }],
    ['EMG', '3', { alarms: ['power-cut'] }],
    ['EMG', '9', { alarms: ['other'] }],
    ['ALT', '1', { alarms: ['overspeed'] }],
    ['ALT', '34', { alarms: [], ignition: false }],
    ['EVT', '1', { alarms: [] }],
  ])('%s %s', (kind, code, expected) => {
    expect(answerTo(report(kind, code))).toMatchObject([{ positions: [{ ...REPORT_OF, ...expected }] }]);
  });

  /** Map, model, version, new, then time, cell, place, speed, course, satellites, fix, inputs, outputs. */
  const universal = (kind: string, behind: string) =>
    `${kind};0${ID};3FFFFF;95;1.0.13;1;20260101;12:00:00;00004697;250;1;1a2b;31;+55.755000;+37.617000;60.50;346.00;9;1;00000101;00000010;${behind}`;
  const UNIVERSAL = { ...REPORT_OF, odometerM: null, supplyV: null };

  test('a report in the format that later series have in common', () => {
    expect(answerTo(universal('STT', '1;2;0492;4.1'))).toMatchObject([
      {
        positions: [
          {
            ...UNIVERSAL,
            alarms: [],
            attributes: { report: 'STT', eventCode: 2, input1: false, input2: true, output1: false, output2: true },
          },
        ],
      },
    ]);
    expect(answerTo(universal('ALT', '41;;'))).toMatchObject([
      { positions: [{ ...UNIVERSAL, alarms: ['power-cut'] }] },
    ]);
    expect(answerTo(universal('ALT', '34;;'))).toMatchObject([{ positions: [{ ignition: false }] }]);
    expect(answerTo(`ALV;0${ID}`)).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test('a report in that format with fewer fields', () => {
    const text = `STT;0${ID};0003F8;1;20260101;12:00:00;+55.755000;+37.617000;60.50;346.00`;
    expect(answerTo(text)).toMatchObject([
      { positions: [{ fixTimeMs: REPORT_OF.fixTimeMs, speedKmh: 60.5, ignition: null }] },
    ]);
  });

  test('a portable model', () => {
    const text = `ST910;Emergency;${ID};500;20260101;12:00:00;b9ad1c;+55.755000;+037.617000;060.500;346.00;1;4.1`;
    expect(answerTo(text)).toMatchObject([
      { positions: [{ fixTimeMs: REPORT_OF.fixTimeMs, valid: true, alarms: ['sos'], attributes: { batteryV: 4.1 } }] },
    ]);
  });

  test('an answer to a command is accepted', () => {
    expect(answerTo(`ST300CMD;Res;${ID};706;Reset`)).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test('a sign of life holds no place', () => {
    expect(answerTo(`ST300ALV;${ID}`)).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test.each([
    ['a date that does not exist', report('STT', '1').replace('20260101', '20261301')],
    ['a place beyond the poles', report('STT', '1').replace('+55.7', '+95.7')],
    ['a report that is cut off', `ST300STT;${ID};04;706;20260101;12:00:00;00100;+55.755000;+037.617000;060.5`],
    ['a report without a place', `ST300STT;${ID};04;706;20260101;12:00:00`],
  ])('%s is left out, and ends nothing', (_, text) => {
    expect(answerTo(text)).toMatchObject([{ type: 'unread' }, { type: 'positions', positions: [] }]);
  });

  test.each([
    ['another number', `ST300ALV;${ID}\rST300ALV;205000002`],
    ['no number', 'ST300ALV'],
  ])('%s ends the connection', (_, text) => {
    expect(
      suntech
        .createSession()
        .push(Buffer.from(`${text}\r`), NOW_MS)
        .at(-1),
    ).toMatchObject({ type: 'refuse' });
  });
});
