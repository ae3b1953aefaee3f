import { openSqliteLog } from './open.ts';
import { textTopic } from './testing.ts';

/*
 * A process to be killed: appends as fast as it can, many calls at a time, and prints the number of each record once it
 * is acknowledged. Run with the log's file, and the number to begin with.
 */

const [path = '', first = '0'] = process.argv.slice(2);
const log = openSqliteLog({ path });
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
