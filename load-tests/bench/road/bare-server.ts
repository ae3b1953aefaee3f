import { type AddressInfo, createServer } from 'node:net';
import { teltonika } from '@outrider/protocols';
import { awaitTask } from './child.ts';

export type BareServerMessage =
  | { type: 'listening'; port: number }
  | { type: 'counted'; positions: number; cpuSeconds: number };

/*
 * The smallest possible gateway: decodes the frames with the same codec and acknowledges them at once. It looks nothing
 * up and stores nothing. The command `count` returns the number of positions.
 */
const { send, awaitCommand } = await awaitTask<null, BareServerMessage>();
let positions = 0;
const server = createServer({ noDelay: true }, (socket) => {
  const session = teltonika.createSession();
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    const answers: Buffer[] = [];
    for (const message of session.push(chunk, 0)) {
      if (message.type === 'positions') {
        positions += message.positions.length;
        if (message.ack) answers.push(message.ack);
      } else if (message.type === 'identify' && message.accept) answers.push(message.accept);
      else if (message.type === 'refuse') throw new Error(message.detail);
    }
    const [only] = answers;
    if (only) socket.write(answers.length === 1 ? only : Buffer.concat(answers));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
send({ type: 'listening', port: (server.address() as AddressInfo).port });
await awaitCommand('count');
const { user, system } = process.cpuUsage();
send({ type: 'counted', positions, cpuSeconds: (user + system) / 1e6 });
