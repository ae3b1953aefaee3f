import { randomInt } from 'node:crypto';
import { test } from 'vitest';
import { givenServers } from './distributed.fixture.ts';
import { manyProcesses } from './killable-service.fixture.ts';
import { describePromises } from './promises.fixture.ts';

/** More of them by `CRASH_KILLS`, and those of an earlier run by its `CRASH_SEED`. */
const KILLS = Number(process.env.CRASH_KILLS ?? 30);
const SEED = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));
const servers = givenServers();

if (servers === null) test.skip('three processes of each service keep the promises, on Kafka, Redis and PostgreSQL');
else
  describePromises('three processes of each service', { seed: SEED, kills: KILLS }, (environment) =>
    manyProcesses(servers, environment),
  );
