import type { FleetEvent, GeofenceVisit, Speeding, UserId } from '@outrider/domain';
import { deriveEventId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import {
  changeTo,
  FENCE,
  fix,
  GROUP,
  geofence,
  OPERATOR,
  reported,
  Scene,
  SQUARE,
  T0,
  user,
  VEHICLE,
  vehicle,
} from './scene.fixture.ts';

// Along latitude 0.1 the square is entered at 0.09 E and left at 0.11 E. 0.01° is 1.1 km.

describe('visits', () => {
  test('a visit begins and ends where the way between two fixes meets the boundary, the time interpolated', () => {
    const scene = new Scene(user(), vehicle(), geofence({ version: 3 }));
    const events = scene.drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1), fix(160, 0.12, 0.1, { speedKmh: 42 }));
    const id = deriveEventId('geofence-visit', VEHICLE, FENCE, T0 + 60_000);
    expect(events).toMatchObject([
      {
        kind: 'geofence-visit',
        id,
        phase: 'begin',
        vehicleId: VEHICLE,
        geofenceId: FENCE,
        definitionVersion: 3,
        startedAtMs: T0 + 30_000,
        endedAtMs: null,
        fixTimeMs: T0 + 60_000,
        latitude: 0.1,
        endReason: null,
      },
      {
        id,
        phase: 'end',
        startedAtMs: T0 + 30_000,
        endedAtMs: T0 + 110_000,
        fixTimeMs: T0 + 160_000,
        speedKmh: 42,
        endReason: 'left',
      },
    ]);
    expect(events[0]?.longitude).toBeCloseTo(0.09, 9);
    expect(events[1]?.longitude).toBeCloseTo(0.11, 9);
  });

  test('the id comes from the fix: another fix before it moves the crossing, not the id', () => {
    const near = new Scene(user(), vehicle(), geofence()).drive(fix(40, 0.085, 0.1), fix(60, 0.1, 0.1));
    const far = new Scene(user(), vehicle(), geofence()).drive(fix(0, 0.07, 0.1), fix(60, 0.1, 0.1));
    expect(near[0]?.startedAtMs).not.toBe(far[0]?.startedAtMs);
    expect(near[0]?.id).toBe(far[0]?.id);
  });

  test('after a gap of more than 5 minutes the crossing is at the fix', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    expect(reported(scene.drive(fix(0, 0.08, 0.1), fix(300, 0.1, 0.1)))).toEqual(['+visit @150']);
    expect(reported(scene.drive(fix(601, 0.12, 0.1)))).toEqual(['-visit @601 left']);
  });

  test('circles and lines are visited like polygons', () => {
    const circle = geofence({ shape: { type: 'circle', center: [0.1, 0.1], radiusM: 1000 } });
    expect(
      reported(new Scene(user(), vehicle(), circle).drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1), fix(120, 0.12, 0.1))),
    ).toEqual([expect.stringMatching(/^\+visit @33\.0/), expect.stringMatching(/^-visit @86\.9/)]);
    const line = geofence({
      shape: {
        type: 'line',
        path: [
          [0.1, 0],
          [0.1, 0.2],
        ],
        widthM: 1000,
      },
    });
    expect(
      reported(new Scene(user(), vehicle(), line).drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1), fix(120, 0.12, 0.1))),
    ).toEqual([expect.stringMatching(/^\+visit @46\.5/), expect.stringMatching(/^-visit @73\.4/)]);
  });

  test('the first fix of a vehicle is inside silently; leaving is reported, with the time from which it is known to be inside', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    expect(scene.drive(fix(0, 0.1, 0.1), fix(10, 0.1, 0.1))).toEqual([]);
    const events = scene.drive(fix(60, 0.12, 0.1));
    expect(events).toMatchObject([{ phase: 'end', startedAtMs: T0, endedAtMs: T0 + 35_000, endReason: 'left' }]);
  });

  test('in one fix all ends and begins come in the order of the geofences', () => {
    const fences = ['f3', 'f1', 'f2'].map((end) =>
      geofence({ id: `00000000-0000-7000-8000-0000000000${end}` as typeof FENCE }),
    );
    const events = new Scene(user(), vehicle(), ...fences).drive(
      fix(0, 0.08, 0.1),
      fix(60, 0.1, 0.1),
    ) as GeofenceVisit[];
    expect(events.map(({ geofenceId }) => geofenceId.slice(-2))).toEqual(['f1', 'f2', 'f3']);
  });

  test('minDwellSeconds: a shorter stay is no event', () => {
    const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    expect(scene.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(40, 0.12, 0.1), fix(400, 0.12, 0.1))).toEqual([]);
  });

  test('minDwellSeconds: a longer stay is reported late, with the time it began', () => {
    const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    expect(scene.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(69, 0.1, 0.1))).toEqual([]);
    const events = scene.drive(fix(70, 0.1, 0.1));
    expect(reported(events)).toEqual(['+visit @10']);
    expect(events[0]).toMatchObject({
      id: deriveEventId('geofence-visit', VEHICLE, FENCE, T0 + 20_000),
      fixTimeMs: T0 + 70_000,
    });
  });

  test('minDwellSeconds: a stay whose two fixes are far enough apart is reported when the vehicle is out', () => {
    const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    expect(reported(scene.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(220, 0.12, 0.1)))).toEqual([
      '+visit @10',
      '-visit @120 left',
    ]);
  });

  test('minDwellSeconds: a shorter absence is no event, a longer one ends the visit where it left', () => {
    const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    expect(reported(scene.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(100, 0.1, 0.1)))).toEqual(['+visit @10']);
    expect(scene.drive(fix(120, 0.12, 0.1), fix(140, 0.1, 0.1))).toEqual([]);
    expect(scene.drive(fix(160, 0.12, 0.1), fix(209, 0.12, 0.1))).toEqual([]);
    expect(reported(scene.drive(fix(210, 0.12, 0.1)))).toEqual(['-visit @150 left']);
  });

  test('minDwellSeconds: back inside after an absence that was long enough is another visit', () => {
    const scene = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    scene.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(100, 0.1, 0.1));
    expect(reported(scene.drive(fix(120, 0.12, 0.1), fix(280, 0.1, 0.1)))).toEqual(['-visit @110 left', '+visit @200']);

    // Exactly long enough: out at 110, in at 170.
    const exact = new Scene(user(), vehicle(), geofence({ minDwellSeconds: 60 }));
    exact.drive(fix(0, 0.08, 0.1), fix(20, 0.1, 0.1), fix(100, 0.1, 0.1));
    expect(reported(exact.drive(fix(120, 0.12, 0.1), fix(220, 0.1, 0.1)))).toEqual(['-visit @110 left']);
    expect(reported(exact.drive(fix(230, 0.1, 0.1)))).toEqual(['+visit @170']);
  });
});

describe('positions that move nothing', () => {
  const inside = fix(60, 0.1, 0.1);
  const started = () => {
    const scene = new Scene(user(), vehicle(), geofence());
    scene.drive(fix(0, 0.08, 0.1));
    return scene;
  };

  test.each([
    ['called invalid by the terminal', { ...inside, valid: false }],
    ['ahead of the server', fix(11 * 60, 0.1, 0.1)],
    ['before 2005', { ...inside, fixTimeMs: Date.UTC(2004, 11, 31) }],
    ['out of range', { ...inside, latitude: 91 }],
    ['at 0/0', { ...inside, latitude: 0, longitude: 0 }],
    ['of the same time as the newest', fix(0, 0.1, 0.1)],
    ['older than the newest', fix(-10, 0.1, 0.1)],
    ['a jump', fix(10, 0.1, 0.1)],
  ])('%s', (_, position) => {
    const scene = started();
    expect(scene.send({ positions: [position], receivedAtMs: T0 + 30_000 })).toEqual([]);
    expect(scene.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0);
    expect(reported(scene.drive(inside))).toEqual(['+visit @30']);
  });

  test('a packet at or below the offset that its vehicle has reached is skipped', () => {
    const scene = started();
    scene.offset = 0;
    expect(scene.drive(inside)).toEqual([]);
    expect(reported(scene.drive(inside))).toEqual(['+visit @30']);
  });

  test('one wrong fix does not turn the right ones after it away', () => {
    const scene = started();
    expect(scene.drive(fix(10, 50, 50))).toEqual([]);
    expect(reported(scene.drive(inside))).toEqual(['+visit @30']);
  });

  test('when the last good fix itself was wrong, three that agree over two minutes take its place', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    scene.drive(fix(0, 50, 50));
    expect(scene.drive(fix(10, 0.1, 0.1), fix(20, 0.1, 0.1), fix(30, 0.1, 0.1), fix(120, 0.1, 0.1))).toEqual([]);
    expect(scene.engine.statusOf(VEHICLE)?.position?.longitude).toBe(50);
    // There is no way from the wrong fix to this one: the visit begins here.
    expect(reported(scene.drive(fix(130, 0.1, 0.1)))).toEqual(['+visit @130']);
    expect(reported(scene.drive(fix(190, 0.12, 0.1)))).toEqual(['-visit @160 left']);
  });

  test('wrong fixes that agree with nothing never take its place', () => {
    const scene = started();
    for (let i = 1; i < 50; i++) expect(scene.drive(fix(i * 10, i % 2 ? 50 : -50, 40))).toEqual([]);
    expect(scene.engine.statusOf(VEHICLE)?.position?.fixTimeMs).toBe(T0);
  });

  test('a step that is a jump in an hour is none in a day', () => {
    const scene = started();
    expect(scene.drive(fix(3600, 10, 0.1))).toEqual([]);
    scene.drive(fix(86_400, 10, 0.1));
    expect(scene.engine.statusOf(VEHICLE)?.position?.longitude).toBe(10);
  });
});

describe('speeding', () => {
  test('begins with the first fix over the limit, ends with the first at or under it', () => {
    const scene = new Scene(user(), vehicle({ version: 4, speedLimitKmh: 90 }));
    const at = (seconds: number, speedKmh: number) => fix(seconds, 0.08 + seconds * 0.0001, 0.1, { speedKmh });
    const events = scene.drive(at(0, 90), at(10, 100), at(20, 120), at(30, 90), at(40, 80)) as Speeding[];
    expect(reported(events)).toEqual(['+vehicle limit 90 @10', '-vehicle limit 90 @30 slowed']);
    const id = deriveEventId('speeding', VEHICLE, '', T0 + 10_000);
    expect(events[0]).toMatchObject({
      id,
      definitionVersion: 4,
      peakKmh: 100,
      meanKmh: 100,
      distanceM: 0,
      speedKmh: 100,
    });
    // (100+120)/2 for 10 s and (120+90)/2 for 10 s; 0.002° along the parallel of 0.1° is 222.39 m.
    expect(events[1]).toMatchObject({ id, peakKmh: 120, meanKmh: 107.5, speedKmh: 90 });
    expect(events[1]?.distanceM).toBeCloseTo(222.39, 1);
    // Where it began is kept, and where it ended.
    expect(events[1]).toMatchObject({ startLongitude: events[0]?.longitude, startLatitude: 0.1 });
    expect(events[1]?.longitude).toBeCloseTo(0.083, 9);
  });

  test('its peak is never below its mean: a vehicle that speeds up is fastest where it leaves the geofence', () => {
    const scene = new Scene(user(), vehicle(), geofence({ speedLimitKmh: 40 }));
    const at = (seconds: number, longitude: number, speedKmh: number) => fix(seconds, longitude, 0.1, { speedKmh });
    scene.drive(at(0, 0.1, 30), at(60, 0.109, 46));
    // The boundary at 0.11 is met half way to a fix at 66 km/h.
    const end = scene.drive(at(180, 0.111, 66)).find((event): event is Speeding => event.kind === 'speeding');
    expect(end).toMatchObject({ phase: 'end', endReason: 'left' });
    expect(end?.peakKmh).toBeCloseTo(56, 6);
    expect(end?.meanKmh).toBeCloseTo(51, 6);
  });

  test('the tolerance counts for the start, the limit itself for the end', () => {
    const scene = new Scene(user(), vehicle({ speedLimitKmh: 90, speedToleranceKmh: 10 }));
    const speeds = [95, 100, 100.1, 95, 90.1, 90, 100];
    const events = scene.drive(...speeds.map((speedKmh, i) => fix(i, 0.08, 0.1, { speedKmh })));
    expect(reported(events)).toEqual(['+vehicle limit 90 @2', '-vehicle limit 90 @5 slowed']);
  });

  test('a speed that no vehicle drives is none', () => {
    const scene = new Scene(vehicle({ speedLimitKmh: 90 }));
    const events = [40, 1202, 40, 65_535, 40, 6553.5, 40].flatMap((speedKmh, nth) =>
      scene.drive(fix(10 * nth, 0.2 + nth / 1000, 0.2, { speedKmh })),
    );
    expect(reported(events)).toEqual([]);
  });

  test('minSeconds: it must last; reported late, with the time it began', () => {
    const scene = new Scene(user(), vehicle({ speedLimitKmh: 90, speedToleranceKmh: 5, speedingMinSeconds: 20 }));
    const over = (seconds: number, speedKmh = 100) => fix(seconds, 0.08, 0.1, { speedKmh });
    // At 19 the tolerance is kept: the run that began at 0 is over.
    expect(scene.drive(over(0), over(19, 94), over(20), over(39))).toEqual([]);
    const events = scene.drive(over(40));
    expect(reported(events)).toEqual(['+vehicle limit 90 @20']);
    expect(events[0]?.fixTimeMs).toBe(T0 + 40_000);
    expect(reported(scene.drive(over(50, 90)))).toEqual(['-vehicle limit 90 @50 slowed']);
  });

  test('where the terminal gives no speed, distance over time counts', () => {
    const scene = new Scene(user(), vehicle({ speedLimitKmh: 90 }));
    // 0.01° in 36 s are 111.2 km/h.
    const events = scene.drive(fix(0, 0.1, 0.1), fix(36, 0.11, 0.1), fix(72, 0.1101, 0.1)) as Speeding[];
    expect(reported(events)).toEqual(['+vehicle limit 90 @36', '-vehicle limit 90 @72 slowed']);
    expect(events[0]?.peakKmh).toBeCloseTo(111.19, 1);
  });

  test('a geofence has a limit of its own, which ends where the vehicle leaves', () => {
    const scene = new Scene(user(), vehicle(), geofence({ version: 7, speedLimitKmh: 50 }));
    const at = (seconds: number, longitude: number) => fix(seconds, longitude, 0.1, { speedKmh: 80 });
    const events = scene.drive(at(0, 0.08), at(60, 0.1), at(120, 0.12));
    expect(reported(events)).toEqual([
      '+visit @30',
      '+geofence limit 50 @60',
      '-visit @90 left',
      '-geofence limit 50 @90 left',
    ]);
    expect(events[3]).toMatchObject({ geofenceId: FENCE, definitionVersion: 7, meanKmh: 80, peakKmh: 80 });
    expect((events[3] as Speeding).distanceM).toBeCloseTo(1112, 0);
  });

  test('vehicle and geofence are judged each by itself', () => {
    const scene = new Scene(user(), vehicle({ speedLimitKmh: 100 }), geofence({ speedLimitKmh: 50 }));
    const at = (seconds: number, speedKmh: number) => fix(seconds, 0.1, 0.1, { speedKmh });
    expect(reported(scene.drive(at(0, 120), at(10, 80), at(20, 40)))).toEqual([
      '+vehicle limit 100 @0',
      '+geofence limit 50 @0',
      '-vehicle limit 100 @10 slowed',
      '-geofence limit 50 @20 slowed',
    ]);
  });
});

describe('definitions that change', () => {
  const visiting = (...definitions: Parameters<Scene['define']>[0][]) => {
    const scene = new Scene(...definitions);
    expect(reported(scene.drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1)))).toEqual(['+visit @30']);
    return scene;
  };

  test('a visit open when its geofence is deleted ends at that moment', () => {
    const scene = visiting(user(), vehicle(), geofence());
    const events = scene.remove('geofence', FENCE, 2, 100);
    expect(reported(events)).toEqual(['-visit @100 geofence-deleted']);
    expect(events[0]).toMatchObject({ fixTimeMs: T0 + 60_000, definitionVersion: 1, longitude: 0.1 });
    expect(scene.drive(fix(120, 0.12, 0.1))).toEqual([]);
  });

  test('a new geofence around a vehicle is silent; leaving it is reported', () => {
    const scene = new Scene(user(), vehicle());
    scene.drive(fix(0, 0.1, 0.1));
    expect(scene.define(geofence(), 30)).toEqual([]);
    expect(scene.drive(fix(60, 0.1, 0.1))).toEqual([]);
    const events = scene.drive(fix(120, 0.12, 0.1));
    expect(reported(events)).toEqual(['-visit @90 left']);
    expect(events[0]?.startedAtMs).toBe(T0 + 30_000);
  });

  test('a silent stay that a definition ends is not published', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    scene.drive(fix(0, 0.1, 0.1));
    expect(scene.remove('geofence', FENCE, 2, 30)).toEqual([]);
  });

  test('a shape that no longer holds the vehicle ends the visit; one that still does lets it go on', () => {
    const away: GeofenceVisit['endReason'] = 'geofence-changed';
    const moved = geofence({ version: 2, shape: { type: 'circle', center: [0.2, 0.2], radiusM: 500 } });
    expect(reported(visiting(user(), vehicle(), geofence()).define(moved, 100))).toEqual([`-visit @100 ${away}`]);

    const scene = visiting(user(), vehicle(), geofence());
    const grown = geofence({ version: 2, shape: { type: 'circle', center: [0.1, 0.1], radiusM: 2000 } });
    expect(scene.define(grown, 100)).toEqual([]);
    const events = scene.drive(fix(120, 0.13, 0.1));
    expect(events).toMatchObject([{ phase: 'end', endReason: 'left', definitionVersion: 2 }]);
  });

  test('a shape that reaches out to a vehicle takes it in silently', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    scene.drive(fix(0, 0.2, 0.2));
    expect(
      scene.define(geofence({ version: 2, shape: { type: 'circle', center: [0.2, 0.2], radiusM: 500 } }), 10),
    ).toEqual([]);
    expect(scene.drive(fix(60, 0.2, 0.2))).toEqual([]);
    expect(reported(scene.drive(fix(300, 0.1, 0.1)))[0]).toMatch(/^-visit .* left$/);
  });

  test('a name alone changes nothing', () => {
    const scene = visiting(user(), vehicle(), geofence());
    expect(scene.define(geofence({ version: 2, name: 'Yard' }), 100)).toEqual([]);
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
  });

  test('an older or repeated change is no news', () => {
    const scene = visiting(user(), vehicle(), geofence({ version: 5 }));
    expect(scene.remove('geofence', FENCE, 5, 100)).toEqual([]);
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
  });

  const driver = (fields: object) => user({ role: 'user', groupIds: [GROUP], ...fields });
  const grouped = vehicle({ groupIds: [GROUP] });
  test.each([
    ['the user loses the group', driver({ version: 2, groupIds: [] })],
    ['the user is blocked', driver({ version: 2, blocked: true })],
    ['the vehicle leaves the group', vehicle({ version: 2 })],
    ['the geofence names other groups', geofence({ version: 2, groupIds: [] })],
  ])('no longer watched: %s', (_, change) => {
    const scene = visiting(driver({}), grouped, geofence());
    expect(reported(scene.define(change, 100))).toEqual(['-visit @100 no-longer-watched']);
    expect(scene.drive(fix(120, 0.12, 0.1), fix(180, 0.1, 0.1))).toEqual([]);
  });

  test('no longer watched: the vehicle is deleted, the user is deleted, the geofence has another owner', () => {
    expect(reported(visiting(user(), vehicle(), geofence()).remove('vehicle', VEHICLE, 2, 100))).toEqual([
      '-visit @100 no-longer-watched',
    ]);
    expect(reported(visiting(user(), vehicle(), geofence()).remove('user', OPERATOR, 2, 100))).toEqual([
      '-visit @100 no-longer-watched',
    ]);
    const other = '00000000-0000-7000-8000-0000000000ab' as UserId;
    const scene = visiting(user(), user({ id: other }), vehicle(), geofence());
    expect(reported(scene.define(geofence({ version: 2, ownerId: other }), 100))).toEqual([
      '-visit @100 no-longer-watched',
    ]);
    // For the other owner the begin is silent; the end is published when the vehicle leaves.
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
  });

  test('watched again: silent, and a visit of its own', () => {
    const scene = visiting(driver({}), grouped, geofence());
    const [ended] = scene.define(driver({ version: 2, blocked: true }), 60);
    expect(scene.define(driver({ version: 3 }), 60)).toEqual([]);
    const [left] = scene.drive(fix(120, 0.12, 0.1));
    expect(left).toMatchObject({ phase: 'end', endReason: 'left' });
    expect(left?.id).not.toBe(ended?.id);
  });

  test('a dealer watches its own vehicles, an owner not known yet watches nothing', () => {
    const dealer = user({ role: 'dealer' });
    const scene = new Scene(vehicle({ dealerId: OPERATOR }), geofence());
    expect(scene.drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1))).toEqual([]);
    expect(scene.define(dealer, 70)).toEqual([]);
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
    scene.define(vehicle({ version: 2, dealerId: null }), 190);
    expect(scene.drive(fix(240, 0.1, 0.1))).toEqual([]);
  });

  test('only the groups that a geofence names', () => {
    const scene = new Scene(user(), vehicle(), geofence({ groupIds: [GROUP] }));
    expect(scene.drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1))).toEqual([]);
    expect(scene.define(grouped.version === 1 ? { ...grouped, version: 2 } : grouped, 70)).toEqual([]);
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
  });

  test('a vehicle that was driving before it was defined is watched from then on', () => {
    const scene = new Scene(user(), geofence());
    expect(scene.drive(fix(0, 0.08, 0.1), fix(60, 0.1, 0.1))).toEqual([]);
    expect(scene.define(vehicle(), 70)).toEqual([]);
    expect(reported(scene.drive(fix(180, 0.12, 0.1)))).toEqual(['-visit @120 left']);
  });

  const speedingIn = (definitions: Parameters<Scene['define']>[0][]) => {
    const scene = new Scene(...definitions);
    scene.drive(fix(0, 0.1, 0.1, { speedKmh: 100 }), fix(10, 0.1001, 0.1, { speedKmh: 100 }));
    return scene;
  };
  test.each<[string, FleetEvent['endReason'], Parameters<Scene['define']>[0]]>([
    ['the geofence has no limit any more', 'limit-removed', geofence({ version: 2 })],
    ['the geofence has another limit', 'limit-removed', geofence({ version: 2, speedLimitKmh: 130 })],
    [
      'the geofence is elsewhere',
      'geofence-changed',
      geofence({ version: 2, speedLimitKmh: 50, shape: { type: 'circle', center: [1, 1], radiusM: 9 } }),
    ],
    ['the owner is blocked', 'no-longer-watched', user({ version: 2, blocked: true })],
  ])('speeding ends at the last fix: %s', (_, reason, change) => {
    const scene = speedingIn([user(), vehicle(), geofence({ speedLimitKmh: 50 })]);
    expect(reported(scene.define(change, 100))).toEqual([`-geofence limit 50 @10 ${reason}`]);
  });

  test('speeding ends at the last fix: the vehicle has another limit, or none, or is deleted', () => {
    const limited = vehicle({ speedLimitKmh: 50 });
    const scene = speedingIn([limited]);
    expect(reported(scene.define({ ...limited, version: 2, speedLimitKmh: 70 }, 100))).toEqual([
      '-vehicle limit 50 @10 limit-removed',
    ]);
    expect(reported(scene.drive(fix(110, 0.1, 0.1, { speedKmh: 71 })))).toEqual(['+vehicle limit 70 @110']);
    expect(reported(speedingIn([limited]).remove('vehicle', VEHICLE, 2, 100))).toEqual([
      '-vehicle limit 50 @10 no-longer-watched',
    ]);
    expect(speedingIn([limited]).define({ ...limited, version: 2, name: 'Truck' }, 100)).toEqual([]);
  });
});

describe('checkpoints', () => {
  test('only what changed is written, and a removed vehicle is taken out', () => {
    const scene = new Scene(user(), vehicle(), geofence());
    scene.drive(fix(0, 0.08, 0.1));
    expect(
      scene.engine
        .takeChanges()
        .map(([key]) => key)
        .sort(),
    ).toEqual([
      `definition:geofence:${FENCE}`,
      `definition:user:${OPERATOR}`,
      `definition:vehicle:${VEHICLE}`,
      `vehicle-state:${VEHICLE}`,
    ]);
    expect(scene.engine.takeChanges()).toEqual([]);
    scene.drive(fix(60, 0.1, 0.1));
    expect(scene.engine.takeChanges().map(([key]) => key)).toEqual([`vehicle-state:${VEHICLE}`]);
    scene.remove('vehicle', VEHICLE, 2, 70);
    expect(scene.engine.takeChanges()).toEqual([
      [`definition:vehicle:${VEHICLE}`, null],
      [`vehicle-state:${VEHICLE}`, null],
    ]);
  });

  test('a state of another version, or one that names an unknown geofence, is refused', () => {
    const state = (text: string) => [[`vehicle-state:${VEHICLE}`, Buffer.from(text)] as const];
    expect(() => new Engine().restore(state('[1,0,null,0,null,null,[],[]]'))).toThrow(/version 1/);
    const moment = '[0,0,0,null]';
    expect(() =>
      new Engine().restore(
        state(
          `[2,0,null,0,null,null,[["${FENCE}","inside",false,false,0,0,${moment},null]],[],null,0,false,0,null,null,[]]`,
        ),
      ),
    ).toThrow(/not defined/);
  });

  test('the latest positions survive, whole', () => {
    const scene = new Scene(vehicle());
    const position = fix(0, 0.08, 0.1, {
      speedKmh: 12.3,
      alarms: ['sos'],
      attributes: { io21: 4, driver: 'A' },
      ignition: true,
    });
    scene.drive(position);
    const known = {
      vehicleId: VEHICLE,
      position,
      receivedAtMs: T0,
      record: position,
      lastContactAtMs: T0,
      protocol: 'osmand',
    };
    expect(scene.engine.takeUpdated()).toMatchObject([known]);
    expect(scene.engine.takeUpdated()).toEqual([]);
    const restored = new Engine();
    restored.restore(scene.engine.takeChanges().filter((entry): entry is [string, Buffer] => entry[1] !== null));
    expect([...restored.allStatuses()]).toMatchObject([known]);
    expect([...restored.allStatuses()]).toEqual([...scene.engine.allStatuses()]);
  });

  test('definitions are loaded before vehicles, and into a fresh engine alone', () => {
    const scene = new Scene(user(), vehicle(), geofence({ shape: SQUARE }));
    expect(() => scene.engine.restore([])).toThrow(/fresh/);
    scene.drive(fix(0, 0.08, 0.1));
    expect(() => scene.engine.load([changeTo(geofence({ version: 2 }))])).toThrow(/before the first vehicle/);
  });
});
