import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fingerprints, HISTORY, NEWEST, RELEASES } from './fingerprints.fixture.ts';

/** What a release leaves for the tests of later ones. */
const GOLDEN = ['data-dir.tgz', 'data-dir.json', 'postgres.sql.gz', 'clickhouse.sql.gz', 'servers.json'];

test.each(RELEASES)('%s left all of its golden data', (release) => {
  for (const name of GOLDEN) expect([name, existsSync(new URL(`${release}/${name}`, HISTORY))]).toEqual([name, true]);
});

test('a change of a schema, a state or a table comes with new golden data: npm run golden:release', async () => {
  const stored = JSON.parse(readFileSync(new URL(`${NEWEST}/fingerprints.json`, HISTORY), 'utf8'));
  expect(await fingerprints()).toEqual(stored);
});
