import { EVENT_KINDS } from '@outrider/domain';
import { runs } from '@outrider/testing';
import { LANGUAGES, type Language } from '@outrider/words';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeHtml } from './message-html.ts';
import type { MessageReader } from './message-reader.ts';
import { type NotificationFacts, notificationText } from './notification-text.ts';

const UTC: MessageReader = { language: 'en', timeZone: 'UTC', units: 'metric' };
const BERLIN: MessageReader = { ...UTC, timeZone: 'Europe/Berlin' };
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
      geofenceName: 'Depot North',
      latitude: 52.5200066,
      longitude: -13.4,
      speedKmh: 49.6,
      limitKmh: 50,
      peakKmh: 71.5,
      distanceM: 1849,
      endReason: 'slowed',
      ruleName: 'Too fast',
    }),
    BERLIN,
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
Duration: 1 min 35 s
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
  expect(notificationText(facts({}), UTC).text).toBe(`Vehicle event: 'Truck 7' entered a geofence.

Vehicle: 'Truck 7'
Time: 2026-03-29 00:59:30 +00:00 (UTC)
`);
});

const hour = beganMs + 3_900_000;
test.each<[string, Partial<NotificationFacts>]>([
  ["'Truck 7' entered 'Depot'", { geofenceName: 'Depot' }],
  ["'Truck 7' left 'Depot' after 1 h 5 min", { phase: 'end', endedAtMs: hour, geofenceName: 'Depot' }],
  [
    "The visit of 'Truck 7' to 'Depot' ended: the geofence was deleted",
    { phase: 'end', endedAtMs: hour, geofenceName: 'Depot', endReason: 'geofence-deleted' },
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
  ["Alarm of 'Truck 7': Panic button", { kind: 'alarm', alarm: 'sos' }],
  [
    "Alarm of 'Truck 7' ended after 1 h 5 min: Towing",
    { kind: 'alarm', alarm: 'towing', phase: 'end', endedAtMs: hour },
  ],
  ["'Truck 7': Door open began", { kind: 'door-open' }],
  ["'Truck 7': Door open ended after 1 h 5 min", { kind: 'door-open', phase: 'end', endedAtMs: hour }],
])('%s', (subject, changes) => expect(notificationText(facts(changes), UTC).subject).toBe(`Vehicle event: ${subject}`));

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
    UTC,
  );
  expect(subject).toBe(`Vehicle event: 'Truck 7' was idling for ${words}`);
});

test('a crossing between two milliseconds has a time', () => {
  expect(notificationText(facts({ startedAtMs: beganMs + 0.5 }), UTC).text).toContain('Time: 2026-03-29 00:59:30');
});

test('a time zone that there is not is refused', () => {
  expect(() => notificationText(facts({}), { ...UTC, timeZone: 'Mars/Olympus' })).toThrow(RangeError);
});

describe('names of users', () => {
  test('cannot add a line, a header or markup', () => {
    const evil = '<script>alert("x")</script>\r\nBcc: eve@example.com\u2028\u202eX & \'Y\'';
    const { subject, text, html } = notificationText(
      facts({ vehicleName: evil, geofenceName: evil, ruleName: evil }),
      UTC,
    );
    const plain = "'script alert( x ) script Bcc eve exam...'";
    expect(subject).toBe(`Vehicle event: ${plain} entered ${plain}`);
    expect(text.split('\n')).toHaveLength(7);
    expect(html).not.toContain('<script');
  });

  test('cannot be a message or a link of somebody else', () => {
    const lure = 'Your account is locked! Sign in at https://evil.example/login within 24 hours or call +1 (555) 0100';
    const { subject, text, html } = notificationText(
      facts({ vehicleName: lure, geofenceName: lure, ruleName: lure, plate: 'evil.example' }),
      UTC,
    );
    for (const written of [subject, text, html]) {
      expect(written).not.toMatch(/evil\.example|:\/\/(?!www\.w3)/);
      expect(written).not.toContain('within 24');
    }
    expect(subject).toMatch(/^Vehicle event: '[^']{1,40}' entered '[^']{1,40}'$/);
  });

  test('whatever they are, leave the same lines and the same tags', () => {
    const plain = notificationText(facts({ geofenceName: 'x', plate: 'x', ruleName: 'x', vehicleName: 'x' }), UTC);
    const tags = (html: string) => html.match(/<[^>]*>/g);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        const said = notificationText(
          facts({ geofenceName: name, plate: name, ruleName: name, vehicleName: name }),
          UTC,
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
    const { subject } = notificationText(facts({ vehicleName: 'Ж'.repeat(10_000), geofenceName: 'Depot' }), UTC);
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

test('a message of a rule fills its placeholders, and holds no link that a name smuggles in', () => {
  const facts = {
    kind: 'parking',
    phase: 'begin' as const,
    vehicleName: 'Van <b>http://evil.example</b>',
    startedAtMs: Date.UTC(2026, 0, 15, 12),
    endedAtMs: null,
    lastedMs: 4 * 3_600_000,
  };
  const { words, html, subject } = notificationText(facts, UTC, '{vehicle} stands for {duration} <i> {other} {"a":1}');
  expect(words).toBe('Van b http evil example b stands for 4 h <i> {other} {"a":1}');
  expect(html).toContain('&#60;i&#62;');
  expect(subject).toContain('parked, for 4 h now');
});

test('a message is in the language, the time zone and the units of its reader', () => {
  const event = facts({
    ...{ kind: 'speeding', phase: 'end', endedAtMs: beganMs + 95_000, geofenceName: 'Depot' },
    ...{ limitKmh: 50, peakKmh: 71.5, distanceM: 1849 },
  });
  const said = (language: Language, units: 'metric' | 'imperial' = 'metric') =>
    notificationText(event, { language, units, timeZone: 'Europe/Berlin' });
  expect(said('de').subject).toBe(
    "Fahrzeugereignis: 'Truck 7' fuhr in 'Depot' 1 min 35 s zu schnell: bis 72 km/h, erlaubt 50 km/h",
  );
  expect(said('de').text).toContain('Strecke: 1,8 km\n');
  expect(said('de').text).toContain('Anfang: 29.03.2026 01:59:30 +01:00 (Europe/Berlin)');
  expect(said('ru').text).toContain('Событие: ');
  expect(said('ru').text).toContain('разрешено 50 км/ч');
  expect(said('es', 'imperial').text).toMatch(/Límite: 31 mi\/h/);
  expect(said('en').html).toContain('<html lang="en" dir="ltr">');
  expect(said('he').html).toContain('<html lang="he" dir="rtl">');
  expect(said('he').html).toContain('<body dir="rtl"');
});

test('every language says every kind of event, at its begin and its end, with whatever is known or not', () => {
  const everything: Partial<NotificationFacts> = {
    ...{ geofenceName: 'ZONE', speedKmh: 1, limitKmh: 2, peakKmh: 3, distanceM: 4, volumeL: 5, levelBeforeL: 6 },
    ...{ levelAfterL: 7, whileMoving: true, alarm: 'towing', planName: 'PLAN', stage: 'due', cause: 'days' },
    ...{ sensorName: 'SENSOR', unit: '°C', condition: 'inside', min: 1, max: 2, value: 3, peakValue: 4 },
    ...{ ruleName: 'RULE', lastedMs: 60_000, late: { receivedAtMs: beganMs, delayMs: 1000 }, startPlace: 'A' },
  };
  for (const language of LANGUAGES)
    for (const kind of [...EVENT_KINDS, 'new-kind'])
      for (const more of [{}, everything])
        for (const phase of ['begin', 'end'] as const) {
          const endedAtMs = phase === 'end' ? hour : null;
          const { subject, text } = notificationText(facts({ ...more, kind, phase, endedAtMs }), { ...UTC, language });
          expect(text, `${language} ${kind}`).not.toMatch(/undefined|null|NaN| {2}/);
          expect(subject).toContain("'Truck 7'");
          // A language in its own letters.
          if (language === 'ru') expect(subject.replace(/new kind/i, '')).toMatch(/[а-я]{4}/);
          if (language === 'he') expect(subject).toMatch(/[א-ת]{3}/);
        }
});

test('a licence is named by its driver and its last day, in each language, and by no vehicle', () => {
  for (const language of LANGUAGES)
    for (const stage of ['expires-soon', 'expired'] as const) {
      const licence = { kind: 'licence-expiry', vehicleName: null, driverName: 'Eva', stage };
      const { subject, text } = notificationText(facts({ ...licence, licenceExpiresOn: '2027-05-31' }), {
        ...UTC,
        language,
      });
      expect(subject, `${language} ${stage}`).toMatch(/'Eva'.*2027/);
      expect(text).not.toMatch(/undefined|null|NaN|''/);
    }
});
