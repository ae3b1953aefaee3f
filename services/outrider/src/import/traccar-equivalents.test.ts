import { compileExpression } from '@outrider/engine';
import { describe, expect, test } from 'vitest';
import { planOf, ruleOf, sensorOf } from './traccar-equivalents.ts';

const NOW_MS = Date.parse('2026-03-10T12:00:00Z');
const DAY_MS = 86_400_000;

describe('a notification', () => {
  const rule = (type: string, attributes = {}) => ruleOf({ id: 1, type, always: true, attributes });

  test.each([
    ['geofenceEnter', ['geofence-visit'], ['begin']],
    ['geofenceExit', ['geofence-visit'], ['end']],
    ['deviceOnline', ['offline'], ['end']],
    ['deviceFuelDrop', ['fuel-drain'], ['begin']],
  ])('%s is a rule of %j, %j', (type, eventKinds, phases) => {
    expect(rule(type)).toEqual({ is: { name: `Traccar: ${type}`, eventKinds, phases, alarms: null } });
  });

  test('of alarms names them, and a power cut is an event of its own', () => {
    const terms = (alarms: string) => (rule('alarm', { alarms }) as { is: object }).is;
    expect(terms('')).toMatchObject({ name: 'Traccar: alarm', eventKinds: ['alarm', 'power-cut'], alarms: null });
    expect(terms('sos, hardBraking')).toMatchObject({ eventKinds: ['alarm'], alarms: ['sos', 'harsh-braking'] });
    expect(terms('powerCut')).toMatchObject({
      name: 'Traccar: alarm power-cut',
      eventKinds: ['power-cut'],
      alarms: null,
    });
    expect(terms('powerCut,fallDown')).toMatchObject({ eventKinds: ['alarm', 'power-cut'], alarms: ['other'] });
  });

  test('without an equivalent has a reason', () => {
    expect(rule('textMessage')).toEqual({ isNone: 'there is no event like textMessage here' });
    expect(ruleOf({ id: 1, type: 'ignitionOn', calendarId: 4 })).toMatchObject({
      isNone: expect.stringMatching(/calendar/),
    });
  });
});

describe('maintenance', () => {
  const plan = (type: string, start: number, period: number) =>
    planOf({ id: 1, name: 'Oil', type, start, period }, NOW_MS);

  test('by distance, engine hours and days is a plan', () => {
    expect(plan('totalDistance', 5e6, 1.5e7)).toEqual({ is: { every: { distanceKm: 15_000 }, startsAtMs: null } });
    expect(plan('hours', 0, 900_000_000)).toEqual({ is: { every: { engineHours: 250 }, startsAtMs: null } });
    const started = Date.parse('2026-03-01T00:00:00Z');
    expect(plan('fixTime', started, 4 * DAY_MS)).toEqual({
      is: { every: { days: 4 }, startsAtMs: started + 8 * DAY_MS },
    });
    // First due in two days: it counts from one period before that.
    expect(plan('deviceTime', NOW_MS + 2 * DAY_MS, 30 * DAY_MS)).toEqual({
      is: { every: { days: 30 }, startsAtMs: NOW_MS - 28 * DAY_MS },
    });
  });

  test('that is due once, or goes by something else, has a reason', () => {
    expect(plan('totalDistance', 5e6, 0)).toMatchObject({ isNone: expect.stringMatching(/due once/) });
    expect(plan('battery', 0, 10)).toMatchObject({ isNone: expect.stringMatching(/goes by battery/) });
  });
});

describe('a computed attribute', () => {
  const sensor = (expression: string, type = 'number') =>
    sensorOf({ id: 1, description: '', attribute: 'made', expression, type });

  test.each([
    ['power > 13.2', 'boolean', 'supplyV > 13.2'],
    ['power ? power > 13.2 : null', 'boolean', 'supplyV > 13.2'],
    ['speed * 1.852', 'number', '(speedKmh / 1.852) * 1.852'],
    ['ignition && !(fuel < 5) ? 1 : 0', 'number', 'ignition && !(fuelL < 5) ? 1 : 0'],
    ['odometer/1000', 'number', 'odometerM/1000'],
  ])('%s (%s) is a sensor of %s', (expression, type, source) => {
    expect(sensor(expression, type)).toMatchObject({ is: { name: 'made', source } });
    expect(() => compileExpression(source)).not.toThrow();
  });

  test.each([
    ['in2 ? in2 == 1 : false', /names in2/],
    ['ignition ? 1 : null', /names null/],
    ['"a" + power', /no equivalent from/],
    ['Math.round(power)', /names Math/],
    ['power; fuel', /no equivalent from ";/],
  ])('%s has none', (expression, reason) => {
    expect(sensor(expression)).toMatchObject({ isNone: expect.stringMatching(reason) });
  });

  test('of a text has none', () => {
    expect(sensor('power', 'string')).toMatchObject({ isNone: expect.stringMatching(/a text/) });
  });
});
