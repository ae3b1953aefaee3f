import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/* A thread that writes each number into one database, and then into the other, as fast as it can. */

const [first, second] = (workerData as string[]).map((path) => {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE numbers (number INTEGER)');
  return database.prepare('INSERT INTO numbers VALUES (?)');
});
parentPort?.postMessage('writing');
for (let number = 1; ; number++) {
  first?.run(number);
  second?.run(number);
}
