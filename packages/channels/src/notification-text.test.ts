import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeHtml, type NotificationFacts, notificationText } from './notification-text.ts';

const beganMs = Date.UTC(2026, 2, 29, 0, 59, 30);

function facts(changes: Partial<NotificationFacts>): NotificationFacts {
  return {
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleName: 'Truck 7',
    startedAtMs: beganMs,
    endedAtMs: null,
    ...changes,
  };
}

test('a message names what is known, with times on the wall of the time zone', () => {
  const { subject, text, html } = notificationText(
    facts({
      kind: 'speeding',
      phase: 'end',
      plate: 'B-OR 123',
      // The clocks of Berlin go forward between these two.
      endedAtMs: beganMs + 95_000,
      placeName: 'Depot North',
      latitude: 52.5200066,
      longitude: -13.4,
      speedKmh: 49.6,
      limitKmh: 50,
      peakKmh: 71.5,
      distanceM: 1849,
      endReason: 'slowed',
      ruleName: 'Too fast',
    }),
    'Europe/Berlin',
  );
  expect(subject).toBe(
    "Vehicle event: 'Truck 7' was speeding in 'Depot North' for 1 min 35 s: up to 72 km/h, limit 50 km/h",
  );
  expect(
    text,
  ).toBe(`Vehicle event: 'Truck 7' was speeding in 'Depot North' for 1 min 35 s: up to 72 km/h, limit 50 km/h.

Vehicle: 'Truck 7' 'B-OR 123'
Geofence: 'Depot North'
Began: 2026-03-29 01:59:30 +01:00 (Europe/Berlin)
Ended: 2026-03-29 03:01:05 +02:00 (Europe/Berlin)
Lasted: 1 min 35 s
Speed: 50 km/h
Highest speed: 72 km/h
Limit: 50 km/h
Distance: 1.8 km
Position: 52.520007, -13.400000
Rule: 'Too fast'
`);
  expect(html).toContain('<td>2026-03-29 03:01:05 +02:00 (Europe/Berlin)</td>');
});

test('what is not known is left out', () => {
  expect(notificationText(facts({}), 'UTC').text).toBe(`Vehicle event: 'Truck 7' entered a geofence.

Vehicle: 'Truck 7'
Time: 2026-03-29 00:59:30 +00:00 (UTC)
`);
});

const hour = beganMs + 3_900_000;
test.each<[string, Partial<NotificationFacts>]>([
  ["'Truck 7' entered 'Depot'", { placeName: 'Depot' }],
  ["'Truck 7' left 'Depot' after 1 h 5 min", { phase: 'end', endedAtMs: hour, placeName: 'Depot' }],
  [
    "The visit of 'Truck 7' to 'Depot' ended: the geofence was deleted",
    { phase: 'end', endedAtMs: hour, placeName: 'Depot', endReason: 'geofence-deleted' },
  ],
  ["'Truck 7' is speeding: 97 km/h, limit 80 km/h", { kind: 'speeding', speedKmh: 97.4, limitKmh: 80 }],
  ["'Truck 7' is speeding", { kind: 'speeding' }],
  ["'Truck 7' began a trip", { kind: 'trip' }],
  ["'Truck 7' ended a trip of 640 m in 1 h 5 min", { kind: 'trip', phase: 'end', endedAtMs: hour, distanceM: 640.2 }],
  ["'Truck 7' ended a trip of 1 h 5 min", { kind: 'trip', phase: 'end', endedAtMs: hour }],
  ["'Truck 7' parked", { kind: 'parking' }],
  ["'Truck 7' drove on after parking for 1 h 5 min", { kind: 'parking', phase: 'end', endedAtMs: hour }],
  ["'Truck 7' is idling", { kind: 'idling' }],
  ["'Truck 7' was idling for 1 h 5 min", { kind: 'idling', phase: 'end', endedAtMs: hour }],
  ["'Truck 7' went offline", { kind: 'offline' }],
  ["'Truck 7' is online again after 1 h 5 min", { kind: 'offline', phase: 'end', endedAtMs: hour }],
  ["The ignition of 'Truck 7' was switched on", { kind: 'ignition' }],
  ["The ignition of 'Truck 7' was switched off after 1 h 5 min", { kind: 'ignition', phase: 'end', endedAtMs: hour }],
  ["'Truck 7' lost its external power", { kind: 'power-cut' }],
  ["'Truck 7' has external power again after 1 h 5 min", { kind: 'power-cut', phase: 'end', endedAtMs: hour }],
  ["Alarm of 'Truck 7': SOS", { kind: 'alarm', alarm: 'sos' }],
  [
    "Alarm of 'Truck 7' ended after 1 h 5 min: towing",
    { kind: 'alarm', alarm: 'towing', phase: 'end', endedAtMs: hour },
  ],
  ["'Truck 7': door open began", { kind: 'door-open' }],
  ["'Truck 7': door open ended after 1 h 5 min", { kind: 'door-open', phase: 'end', endedAtMs: hour }],
])('%s', (subject, changes) =>
  expect(notificationText(facts(changes), 'UTC').subject).toBe(`Vehicle event: ${subject}`),
);

test.each([
  [-5, '0 s'],
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [3605, '1 h'],
  [86_399, '23 h 59 min'],
  [90_000, '1 d 1 h'],
])('%i seconds last %s', (seconds, words) => {
  const { subject } = notificationText(
    facts({ kind: 'idling', phase: 'end', endedAtMs: beganMs + seconds * 1000 }),
    'UTC',
  );
  expect(subject).toBe(`Vehicle event: 'Truck 7' was idling for ${words}`);
});

test('a crossing between two milliseconds has a time', () => {
  expect(notificationText(facts({ startedAtMs: beganMs + 0.5 }), 'UTC').text).toContain('Time: 2026-03-29 00:59:30');
});

test('a time zone that there is not is refused', () => {
  expect(() => notificationText(facts({}), 'Mars/Olympus')).toThrow(RangeError);
});

describe('names of users', () => {
  test('cannot add a line, a header or markup', () => {
    const evil = '<script>alert("x")</script>\r\nBcc: eve@example.com\u2028\u202eX & \'Y\'';
    const { subject, text, html } = notificationText(
      facts({ vehicleName: evil, placeName: evil, ruleName: evil }),
      'UTC',
    );
    const plain = "'script alert( x ) script Bcc eve exam...'";
    expect(subject).toBe(`Vehicle event: ${plain} entered ${plain}`);
    expect(text.split('\n')).toHaveLength(7);
    expect(html).not.toContain('<script');
  });

  test('cannot be a message or a link of somebody else', () => {
    const lure = 'Your account is locked! Sign in at https://evil.example/login within 24 hours or call +1 (555) 0100';
    const { subject, text, html } = notificationText(
      facts({ vehicleName: lure, placeName: lure, ruleName: lure, plate: 'evil.example' }),
      'UTC',
    );
    for (const written of [subject, text, html]) {
      expect(written).not.toMatch(/evil\.example|:\/\/(?!www\.w3)/);
      expect(written).not.toContain('within 24');
    }
    expect(subject).toMatch(/^Vehicle event: '[^']{1,40}' entered '[^']{1,40}'$/);
  });

  test('whatever they are, leave the same lines and the same tags', () => {
    const plain = notificationText(facts({ placeName: 'x', plate: 'x', ruleName: 'x', vehicleName: 'x' }), 'UTC');
    const tags = (html: string) => html.match(/<[^>]*>/g);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        const said = notificationText(
          facts({ placeName: name, plate: name, ruleName: name, vehicleName: name }),
          'UTC',
        );
        expect(said.subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(said.text.split('\n')).toHaveLength(plain.text.split('\n').length);
        expect(tags(said.html)).toEqual(tags(plain.html));
        expect(said.html.isWellFormed()).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('are cut where they are endless', () => {
    const { subject } = notificationText(facts({ vehicleName: 'Ж'.repeat(10_000), placeName: 'Depot' }), 'UTC');
    expect(subject).toBe(`Vehicle event: '${'Ж'.repeat(37)}...' entered 'Depot'`);
  });
});

test('escaping leaves no character that means something in HTML', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeHtml(text);
      expect(escaped).not.toMatch(/[<>"']/);
      expect(escaped.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))).toBe(text);
    }),
  );
});
