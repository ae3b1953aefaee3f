import { oneProcess } from './killable-service.fixture.ts';
import { describePromises } from './promises.fixture.ts';

/** A seed with crashes of both kinds: in the start, and at work. `promises.service.test.ts` has fifty of them. */
describePromises('one process', { seed: 719_285, kills: 4 }, oneProcess);
