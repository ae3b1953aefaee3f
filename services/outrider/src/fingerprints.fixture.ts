import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DEFINITION_FORMAT } from '@outrider/domain';
import { STATE_VERSION } from '@outrider/engine';
import { postgresFingerprints, sqliteFingerprints } from '@outrider/registry/fingerprints';
import { clickhouseFingerprints } from '@outrider/warehouse/fingerprints';
import { DATA_DIR_FORMAT } from './data-dir.ts';

const SCHEMAS = new URL('../../../schemas/', import.meta.url);
export const HISTORY = new URL('history/', SCHEMAS);

const { version } = JSON.parse(readFileSync(new URL('../package.json', SCHEMAS), 'utf8')) as { version: string };
const isUpTo = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true }) <= 0;
const folders = readdirSync(HISTORY, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));

/** Folders of `schemas/history/` up to the present version, oldest first: these are complete. */
export const RELEASES = folders.filter((name) => isUpTo(name, `v${version}`));
/** The release that the present schemas belong to, which may be the next one. */
export const NEWEST = folders.at(-1) as string;

/** Everything that decides the form of stored data: versions, and a hash of each schema, table and migration. */
export async function fingerprints() {
  const avro = readdirSync(SCHEMAS).filter((name) => name.endsWith('.avsc'));
  return {
    versions: { definitions: DEFINITION_FORMAT, engineState: STATE_VERSION, dataDir: DATA_DIR_FORMAT },
    avro: Object.fromEntries(avro.map((name) => [name, hashOfSchema(readFileSync(new URL(name, SCHEMAS), 'utf8'))])),
    sqlite: await sqliteFingerprints(),
    postgres: await postgresFingerprints(),
    clickhouse: await clickhouseFingerprints(),
  };
}

/** Descriptions do not change what is stored. */
function hashOfSchema(text: string): string {
  const schema = JSON.stringify(JSON.parse(text), (key, value) => (key === 'doc' ? undefined : value));
  return createHash('sha256').update(schema).digest('hex').slice(0, 16);
}
