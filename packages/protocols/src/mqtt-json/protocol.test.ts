import { blankPosition, type TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { mqttJson } from './protocol.ts';

const NOW_MS = Date.UTC(2026, 0, 15, 12);
const PLACE = { latitude: 52.37, longitude: 4.89 };

function publish(message: unknown, topic = 'outrider/van-1/position') {
  const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return mqttJson.topics.decode({ topic, payload }, NOW_MS);
}

describe('MQTT JSON', () => {
  test('a message has the fields of the API', () => {
    const fields = {
      ...{ speedKmh: 42.5, courseDeg: 271, altitudeM: 13, satellites: 9, odometerM: 1200, supplyV: 12.5, fuelL: 40.5 },
      ...{ valid: true, ignition: true, alarms: ['sos'], attributes: { door1: true, note: 'x' } },
    };
    expect(publish({ fixTime: '2026-01-15T11:59:00.500Z', ...PLACE, ...fields })).toEqual({
      reports: [{ terminalId: 'van-1', positions: [{ fixTimeMs: NOW_MS - 59_500, ...PLACE, ...fields }] }],
    });
  });

  test('a time can be in Unix seconds or milliseconds; without one it is that of the arrival', () => {
    for (const fixTime of [NOW_MS / 1000, NOW_MS, undefined])
      expect(publish({ fixTime, ...PLACE })).toMatchObject({ reports: [{ positions: [{ fixTimeMs: NOW_MS }] }] });
  });

  test('a list holds several positions', () => {
    expect(publish([PLACE, PLACE])).toMatchObject({ reports: [{ positions: [PLACE, PLACE] }] });
    expect(publish(Array(1001).fill(PLACE))).toMatchObject({ refused: 'bad-length' });
  });

  test('without a place, the position is not valid', () => {
    expect(publish({ ignition: false })).toMatchObject({
      reports: [{ positions: [{ valid: false, latitude: 0, longitude: 0, ignition: false }] }],
    });
  });

  test.each([
    ['a name that is not known', { ...PLACE, speed: 4 }, '"speed" is not known; known are fixTime, latitude'],
    ['half a place', { latitude: 1 }, 'longitude: nothing is not a number within 180 degrees'],
    ['a latitude as text', { ...PLACE, latitude: '1' }, 'latitude: "1" is not a number within 90 degrees'],
    ['a time that is none', { ...PLACE, fixTime: 'now' }, 'fixTime: "now" is not a time'],
    ['an alarm that does not exist', { ...PLACE, alarms: ['fire'] }, 'alarms: ["fire"] is not a list of sos'],
    ['an alarm of the gateway', { ...PLACE, alarms: ['terminal-conflict'] }, 'alarms: '],
    ['a speed below 0', { ...PLACE, speedKmh: -1 }, 'speedKmh: -1 is not a number from 0 to 1000'],
    ['attributes in a list', { ...PLACE, attributes: [] }, 'attributes: [] is not a JSON object'],
    ['a wrong place in a list', [PLACE, { ...PLACE, longitude: 200 }], '[1].longitude: 200 is not'],
    ['no JSON', '{', 'the body is not JSON'],
    ['a number', 5, 'the message: not a JSON object'],
  ])('%s is refused with its reason', (_, message, detail) => {
    const read = publish(message);
    expect(read).toMatchObject({ refused: 'bad-content' });
    expect('refused' in read && read.detail).toContain(detail);
  });

  test('the topic names the terminal, whatever its prefix', () => {
    expect(publish(PLACE, 'a/b/c/van-2/position')).toMatchObject({ reports: [{ terminalId: 'van-2' }] });
    for (const topic of ['position', 'outrider//position', 'outrider/van 1/position', 'outrider/van-1/state'])
      expect(publish(PLACE, topic)).toMatchObject({ refused: 'not-identified' });
  });

  test('a message that the broker no longer keeps is empty', () => {
    expect(publish('')).toEqual({ reports: [] });
  });

  test('what the simulator encodes is decoded again', () => {
    const position = {
      ...blankPosition(NOW_MS + 1, -52.37, 4.89),
      speedKmh: 50.1,
      valid: false,
      attributes: { rpm: 900 },
    };
    const terminalId = 'van-9' as TerminalId;
    expect(mqttJson.topics.decode(mqttJson.topics.encode(terminalId, position), NOW_MS)).toEqual({
      reports: [{ terminalId, positions: [position] }],
    });
  });
});
