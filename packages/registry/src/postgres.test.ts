import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { auditConformance } from './audit.conformance.ts';
import { bulkConformance } from './bulk.conformance.ts';
import { idempotencyConformance } from './idempotency.conformance.ts';
import { openRegistry } from './index.ts';
import { jobsConformance } from './jobs.conformance.ts';
import { notificationsConformance } from './notifications.conformance.ts';
import { registryConformance } from './registry.conformance.ts';
import { reportsConformance } from './reports.conformance.ts';
import { videoConformance } from './video.conformance.ts';

const url = process.env.DATABASE_URL;

if (url) {
  const newPlace = async () => {
    const schema = `registry_${randomBytes(6).toString('hex')}`;
    return {
      open: (now: () => number) => openRegistry({ url, schema, now }),
      async remove() {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(`drop schema ${schema} cascade`);
        await client.end();
      },
    };
  };
  registryConformance('PostgreSQL', newPlace);
  notificationsConformance('PostgreSQL', newPlace);
  auditConformance('PostgreSQL', newPlace);
  idempotencyConformance('PostgreSQL', newPlace);
  bulkConformance('PostgreSQL', newPlace);
  jobsConformance('PostgreSQL', newPlace);
  videoConformance('PostgreSQL', newPlace);
  reportsConformance('PostgreSQL', newPlace);
} else describe.skip('registry on PostgreSQL, which DATABASE_URL turns on', () => test('skipped', () => {}));

test('a schema name that would need quoting is refused', async () => {
  await expect(openRegistry({ url: 'postgres://localhost:1/none', schema: 'a"; drop' })).rejects.toThrow('schema name');
});
