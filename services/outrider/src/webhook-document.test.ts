import { readFileSync } from 'node:fs';
import {
  EVENT_KINDS,
  type EventId,
  type FleetEvent,
  type Notification,
  type NotificationId,
  type NotificationRuleId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { webhookBody } from '@outrider/notifier';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';

const document = JSON.parse(readFileSync(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
// The package is CommonJS: what its types call the default is the function itself.
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'openapi', ...document }, 'openapi');
const validate = ajv.compile({ $ref: 'openapi#/components/schemas/NotificationWebhook' });

const ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';
const MINUTE_MS = 60_000;

/** A notification of an event, with what its kind has beside what all have. */
function notificationOf(kind: FleetEvent['kind'], phase: 'begin' | 'end'): Notification {
  const startedAtMs = Date.UTC(2026, 0, 15, 12);
  const event = {
    ...{ id: ID as EventId, kind, phase, vehicleId: ID as VehicleId, startedAtMs },
    endedAtMs: phase === 'end' ? startedAtMs + MINUTE_MS : null,
    ...{ latitude: 59.9, longitude: 30.3, startLatitude: 59.9, startLongitude: 30.3, speedKmh: 12.5 },
    ...{ fromFixTimeMs: startedAtMs, fixTimeMs: startedAtMs, receivedAtMs: startedAtMs },
    ...{ definitionVersion: 1, origin: 'live', inferred: false, endReason: null, geofenceId: ID, alarm: 'sos' },
  } as unknown as FleetEvent;
  return {
    ...{ id: ID as NotificationId, userId: ID as UserId, number: 7, ruleId: ID as NotificationRuleId, ruleVersion: 1 },
    ...{ ruleName: 'Rule', vehicleName: 'Van', geofenceName: null, driverName: null, lastedMs: null, event },
    ...{ createdAtMs: startedAtMs, readAtMs: null, severity: 'warning', incidentId: ID },
  } as Notification;
}

test('what a webhook is sent is what the document says, of each kind in both phases', () => {
  for (const kind of EVENT_KINDS)
    for (const phase of ['begin', 'end'] as const) {
      const places = { startPlace: 'Depot', endPlace: phase === 'end' ? null : 'Depot' };
      validate(JSON.parse(JSON.stringify(webhookBody(notificationOf(kind, phase), places))));
      expect(validate.errors ?? [], `${kind}.${phase}`).toEqual([]);
    }
  // It does find what is wrong.
  expect(validate({ type: 'geofence-visit', timestamp: 'now', data: {} })).toBe(false);
});
