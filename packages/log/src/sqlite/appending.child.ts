import { workerData } from 'node:worker_threads';
import { openSqliteLog } from './open.ts';
import { textTopic } from './testing.ts';

/* A thread that appends to two topics of a log that others append to as well. */

const { path, name, count } = workerData as { path: string; name: string; count: number };
const log = openSqliteLog({ path });
await Promise.all(
  ['own', 'shared'].map(async (kind) => {
    const topic = textTopic(kind === 'own' ? `own-${name}` : 'shared');
    const calls: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      calls.push(log.append(topic, [`${name} ${i}`]));
      if (i % 10 === 0) await calls[i];
    }
    await Promise.all(calls);
  }),
);
await log.close();
