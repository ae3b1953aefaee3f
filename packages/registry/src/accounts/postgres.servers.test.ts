import { SUITES } from '../conformance.fixture.ts';
import { onPostgres } from '../store/postgres.fixture.ts';

onPostgres(({ newPlace }) => {
  for (const suite of SUITES.accounts) suite('PostgreSQL', newPlace);
});
