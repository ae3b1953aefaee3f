import { COMPRESSION } from './compressor.ts';
import { openSqliteLog } from './open.ts';
import { textTopic } from './testing.ts';

/*
 * A process for tests to kill: appends as fast as it can, many calls at a time, and prints the number of each record
 * once it is acknowledged. Arguments: the log's file, the first number, and after how many bytes records are
 * compressed.
 */

const [path = '', first = '0', groupBytes] = process.argv.slice(2);
const compression = groupBytes === undefined ? COMPRESSION : { groupBytes: Number(groupBytes), plainBytes: 0 };
const log = openSqliteLog({ path, compression });
const topic = textTopic('numbers');
let next = Number(first);

async function appendForEver(): Promise<never> {
  for (;;) {
    const numbers = [next++, next++, next++];
    await log.append(
      topic,
      numbers.map((number) => `${number} ${'x'.repeat(number % 2000)}`),
    );
    process.stdout.write(`${numbers.join('\n')}\n`);
  }
}
await Promise.all(Array.from({ length: 20 }, appendForEver));
