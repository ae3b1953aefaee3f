import { existsSync, writeFileSync } from 'node:fs';
import {
  DEFINITION_FORMAT,
  type Definition,
  type DefinitionChange,
  type DriverId,
  type GroupId,
  NO_CUSTOM_FIELDS,
  storedChange,
  type VehicleId,
  type VideoProfileId,
} from '@outrider/domain';
import { sampleGeofence, sampleRule, sampleSensor, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { encodeDefinitionChange } from './definition.ts';
import { goldenFile } from './golden.fixture.ts';

/**
 * `npm run golden`: writes sample records of the current definition format to `schemas/history/`, where tests read the
 * records of every earlier format. Existing records are never overwritten: they stay as the version of their format
 * wrote them.
 */
const file = goldenFile(DEFINITION_FORMAT);
if (existsSync(file)) {
  console.error(`${file.pathname} exists: a change of the format makes a new one, see CONTRIBUTING.md`);
  process.exitCode = 1;
} else {
  const group: Definition = {
    kind: 'group',
    id: '00000000-0000-7000-8000-0000000000bb' as GroupId,
    version: 3,
    name: 'North',
    dealerId: null,
    retentionDays: 90,
    ...NO_CUSTOM_FIELDS,
  };
  const profile: Definition = {
    kind: 'video-profile',
    id: '00000000-0000-7000-8000-0000000000cc' as VideoProfileId,
    version: 2,
    vehicleId: sampleVehicle().id,
    name: 'Cabin',
    protocol: 'jt1078',
    address: '013800138000',
    channels: [{ number: 1, name: 'driver', direction: 'driver' }],
    quality: 'main',
    audio: true,
    maxFragmentSeconds: 300,
    maxParallelDownloads: 1,
    timeZone: 'UTC',
  };
  const driver: Definition = {
    kind: 'driver',
    id: '00000000-0000-7000-8000-0000000000dd' as DriverId,
    version: 2,
    name: 'Ivan Petrov',
    dealerId: null,
    groupIds: [],
    codes: [{ code: '0100000F28F8E5', sinceMs: Date.UTC(2026, 0, 1), untilMs: null }],
    phone: '+7 900 000-00-00',
    licenceNumber: null,
    licenceExpiresOn: '2027-05-31',
    externalId: 'HR-0042',
    customAttributes: { badge: 'B 17', shift: 2, trainee: false },
  };
  const sensor = sampleSensor({
    calibration: [
      { raw: 0, value: -40 },
      { raw: 4095, value: 85 },
    ],
    thresholds: [
      {
        ...{ id: '00000000-0000-7000-8000-0000000000e2', condition: 'above' },
        ...{ min: null, max: -15, hysteresis: 1, forSeconds: 300 },
      },
    ],
  });
  const definitions = [
    sampleUser(),
    group,
    sampleVehicle({
      sensors: [sensor],
      suspension: { reason: 'Invoice 1204 is unpaid.', by: 'dealer', sinceMs: Date.UTC(2026, 0, 1) },
      predecessor: { id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57' as VehicleId, untilMs: Date.UTC(2026, 0, 2) },
    }),
    sampleGeofence(),
    sampleRule(),
    profile,
    driver,
  ];
  const records = definitions.map((definition) => {
    const { kind, id, version } = definition;
    const change: DefinitionChange = { kind, id, version, changedAtMs: Date.UTC(2026, 0, 1), definition };
    return { avro: encodeDefinitionChange(change).toString('base64'), json: storedChange(change) };
  });
  writeFileSync(file, `${JSON.stringify(records, null, 2)}\n`);
}
