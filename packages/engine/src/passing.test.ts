import { deriveEventId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { FENCE, fix, geofence, reported, Scene, T0, user, VEHICLE, vehicle } from './scene.fixture.ts';

// Along latitude 0.1 the square is entered at 0.09 E and left at 0.11 E.
const scene = (fields: Parameters<typeof geofence>[0] = {}) => new Scene(user(), vehicle(), geofence(fields));

describe('passing through without a fix inside', () => {
  test('is a visit, inferred, with both crossings interpolated', () => {
    const events = scene().drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1));
    expect(reported(events)).toEqual(['+visit inferred @20', '-visit inferred @60 left']);
    const id = deriveEventId('geofence-visit', VEHICLE, FENCE, T0 + 80_000);
    for (const event of events)
      expect(event).toMatchObject({ id, inferred: true, fromFixTimeMs: T0, fixTimeMs: T0 + 80_000 });
    expect(events[0]?.longitude).toBeCloseTo(0.09, 9);
    expect(events[1]?.longitude).toBeCloseTo(0.11, 9);
  });

  test('is none over a gap of more than 5 minutes, past a corner, or on a jump', () => {
    expect(reported(scene().drive(fix(0, 0.08, 0.1), fix(300, 0.12, 0.1)))).toHaveLength(2);
    expect(scene().drive(fix(0, 0.08, 0.1), fix(301, 0.12, 0.1))).toEqual([]);
    expect(scene().drive(fix(0, 0.08, 0.1), fix(80, 0.1, 0.121))).toEqual([]);
    expect(scene().drive(fix(0, 0.08, 0.1), fix(20, 0.12, 0.1))).toEqual([]);
  });

  test('minDwellSeconds holds for it as for any', () => {
    expect(scene({ minDwellSeconds: 41 }).drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1))).toEqual([]);
    const van = scene({ minDwellSeconds: 40 });
    expect(reported(van.drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1)))).toEqual(['+visit inferred @20']);
    // Back inside before the absence is long enough: it is one visit, and no longer inferred.
    expect(reported(van.drive(fix(95, 0.105, 0.1), fix(190, 0.105, 0.1)))).toEqual([]);
    expect(reported(van.drive(fix(200, 0.115, 0.1), fix(300, 0.115, 0.1)))).toEqual(['-visit @195 left']);
  });

  test('coming back for a moment makes a short absence begin anew, and ends a long one', () => {
    const van = scene({ minDwellSeconds: 50 });
    van.drive(fix(0, 0.1, 0.1), fix(100, 0.112, 0.1));
    // Away since 83, and back from 120 to 145.
    expect(reported(van.drive(fix(130, 0.112, 0.1)))).toEqual([]);
    expect(reported(van.drive(fix(140, 0.12, 0.1)))).toEqual(['-visit @83.333 left']);
  });

  test('a geofence of other groups, or of an owner who may not see the vehicle, sees nothing', () => {
    const blocked = new Scene(user({ blocked: true }), vehicle(), geofence());
    expect(blocked.drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1))).toEqual([]);
    const grouped = scene({ groupIds: [] });
    expect(grouped.drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1))).toEqual([]);
  });

  test('several on one way come in the order of their ids, among many', () => {
    const id = (n: number) => FENCE.replace('f1', `f${n}`) as typeof FENCE;
    const many = Array.from({ length: 9 }, (_, n) => geofence({ id: id(n) }));
    const events = new Scene(user(), vehicle(), ...many).drive(fix(0, 0.08, 0.1), fix(80, 0.12, 0.1));
    expect(events.map((event) => 'geofenceId' in event && event.geofenceId)).toEqual(
      many.flatMap((one) => [one.id, one.id]),
    );
  });
});
