import { existsSync, writeFileSync } from 'node:fs';
import {
  DEFINITION_FORMAT,
  type Definition,
  type DefinitionChange,
  type GroupId,
  storedChange,
  type VideoProfileId,
} from '@outrider/domain';
import { sampleGeofence, sampleRule, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { encodeDefinitionChange } from './definition.ts';
import { goldenFile } from './golden.fixture.ts';

/**
 * `npm run golden`: writes records of the current format of definitions to `schemas/history/`, where tests read those
 * of every format that there ever was. Records that stand there are never written anew: they stay as the version wrote
 * them that they are of.
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
  const definitions = [sampleUser(), group, sampleVehicle(), sampleGeofence(), sampleRule(), profile];
  const records = definitions.map((definition) => {
    const { kind, id, version } = definition;
    const change: DefinitionChange = { kind, id, version, changedAtMs: Date.UTC(2026, 0, 1), definition };
    return { avro: encodeDefinitionChange(change).toString('base64'), json: storedChange(change) };
  });
  writeFileSync(file, `${JSON.stringify(records, null, 2)}\n`);
}
