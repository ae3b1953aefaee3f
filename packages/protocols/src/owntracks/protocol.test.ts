import { blankPosition, type TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { owntracks } from './protocol.ts';

const NOW_MS = Date.UTC(2026, 0, 15, 12);
const LOCATION = { _type: 'location', lat: 52.37, lon: 4.89, tst: NOW_MS / 1000 - 5 };

function post(message: unknown, headers: Record<string, string> = {}, url = '/') {
  const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return owntracks.decode({ method: 'POST', url, headers, body }, NOW_MS);
}

function publish(topic: string, message: unknown) {
  const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return owntracks.topics.decode({ topic, payload }, NOW_MS);
}

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

describe('OwnTracks', () => {
  test('a location is a position with common attributes beside the app’s own', () => {
    const message = {
      ...LOCATION,
      alt: 13.4,
      vel: 54,
      cog: 360,
      batt: 81,
      bs: 2,
      acc: 12,
      t: 'u',
      inregions: ['a', 'b'],
    };
    expect(publish('owntracks/anna/phone', message)).toEqual({
      reports: [
        {
          terminalId: 'anna/phone',
          otherIds: ['owntracks/anna/phone'],
          positions: [
            {
              ...blankPosition(NOW_MS - 5000, 52.37, 4.89),
              speedKmh: 54,
              courseDeg: 0,
              altitudeM: 13,
              attributes: {
                batteryPercent: 81,
                accuracy: 12,
                charging: true,
                batt: 81,
                bs: 2,
                t: 'u',
                inregions: 'a,b',
              },
            },
          ],
        },
      ],
    });
  });

  test.each(['transition', 'waypoint', 'waypoints', 'status', 'steps', 'beacon'])(
    'a message %s is a sign of life, and says nothing of where the telephone is',
    (_type) => {
      const reports = [{ terminalId: 'anna/phone', otherIds: ['owntracks/anna/phone'], positions: [] }];
      expect(publish('owntracks/anna/phone/event', { ...LOCATION, _type, event: 'enter' })).toEqual({ reports });
    },
  );

  test.each(['lwt', 'card', 'cmd', 'configuration', 'request'])(
    'a message %s is acknowledged, and says nothing of the telephone',
    (_type) => {
      expect(publish('owntracks/anna/phone', { ...LOCATION, _type })).toEqual({ reports: [] });
    },
  );

  test('a message that the broker no longer keeps is empty', () => {
    expect(publish('owntracks/anna/phone', '')).toEqual({ reports: [] });
  });

  test('an encrypted message is refused with what to do', () => {
    expect(publish('owntracks/anna/phone', { _type: 'encrypted', data: 'eA==' })).toMatchObject({
      refused: 'unsupported',
      detail: 'the message is encrypted: switch encryption off in the app',
    });
  });

  test.each([
    ['no JSON', '{', 'bad-content'],
    ['a list', [LOCATION], 'bad-content'],
    ['another type', { ...LOCATION, _type: 'msg' }, 'unsupported'],
    ['no latitude', { ...LOCATION, lat: undefined }, 'bad-content'],
    ['a latitude as text', { ...LOCATION, lat: '52' }, 'bad-content'],
    ['a longitude beyond 180 degrees', { ...LOCATION, lon: 181 }, 'bad-content'],
    ['a time before 1970', { ...LOCATION, tst: -1 }, 'bad-content'],
  ])('%s is refused', (_, message, refused) => {
    expect(post(message, { 'x-limit-u': 'anna' })).toMatchObject({ refused, status: 400 });
  });

  test.each([
    ['its headers', post(LOCATION, { 'x-limit-u': 'anna', 'x-limit-d': 'phone' }), 'anna/phone'],
    ['its query', post(LOCATION, {}, '/?u=anna&d=phone'), 'anna/phone'],
    ['the topic in the message', post({ ...LOCATION, topic: 'owntracks/anna/phone' }), 'anna/phone'],
    ['a user alone', post(LOCATION, { 'x-limit-u': 'anna' }), 'anna'],
    ['the tracker id', post({ ...LOCATION, tid: 'AP' }), 'AP'],
    ['another root of the topics', publish('fleet/owntracks/anna/phone', LOCATION), 'anna/phone'],
  ])('the terminal is known by %s', (_, read, terminalId) => {
    expect(read).toMatchObject({ reports: [{ terminalId }] });
  });

  test('a message of nobody is refused', () => {
    expect(post(LOCATION)).toMatchObject({ refused: 'not-identified' });
    expect(post({ ...LOCATION, topic: `owntracks/${'a'.repeat(80)}/b` })).toMatchObject({ refused: 'not-identified' });
  });

  test('the password is the secret, and names no terminal', () => {
    const headers = { 'x-limit-u': 'anna', 'x-limit-d': 'phone', ...basic('someone:pass:word') };
    expect(post(LOCATION, headers)).toMatchObject({ secret: 'pass:word', reports: [{ terminalId: 'anna/phone' }] });
  });

  test('attributes are bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}`, n]));
    const read = post({ ...many, ...LOCATION, __proto__: 1, long: 'x'.repeat(5000) }, { 'x-limit-u': 'anna' });
    const attributes = 'reports' in read ? read.reports[0]?.positions[0]?.attributes : null;
    expect(Object.keys(attributes ?? {})).toHaveLength(96);
    expect(attributes).not.toHaveProperty('long');
  });

  test('what the simulator encodes is decoded again', () => {
    const position = { ...blankPosition(NOW_MS, 52.37, -4.89), speedKmh: 50, courseDeg: 90, altitudeM: 3 };
    const terminalId = owntracks.exampleId(1);
    const reports = [{ terminalId, otherIds: [`owntracks/${terminalId}` as TerminalId], positions: [position] }];
    expect(owntracks.topics.decode(owntracks.topics.encode(terminalId, position), NOW_MS)).toEqual({ reports });
    expect(owntracks.decode(owntracks.encode(terminalId, position), NOW_MS)).toEqual({ reports });
  });
});
