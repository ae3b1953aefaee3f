import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { teltonika } from '@outrider/protocols';
import { awaitTask } from './child.ts';

export interface BareStoreTask {
  /** Between two commits, as the log of the service has it. */
  commitEveryMs: number;
}

export type BareStoreMessage = { type: 'listening'; port: number } | { type: 'stopped' };

/*
 * The least that takes positions and keeps them: reads the frames with the same codec, writes the bytes of each packet
 * as a row, syncs the rows of a few milliseconds with one commit, and acknowledges then.
 */
const { task, send, awaitCommand } = await awaitTask<BareStoreTask, BareStoreMessage>();
const folder = mkdtempSync(join(tmpdir(), 'outrider-bare-store-'));
const db = new DatabaseSync(join(folder, 'rows.sqlite'));
db.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE packets (id INTEGER PRIMARY KEY, bytes BLOB)',
);
const insert = db.prepare('INSERT INTO packets (bytes) VALUES (?)');
let waiting: { bytes: Buffer; acknowledge: () => void }[] = [];

function commit(): void {
  const packets = waiting;
  waiting = [];
  db.exec('BEGIN IMMEDIATE');
  for (const { bytes } of packets) insert.run(bytes);
  db.exec('COMMIT');
  for (const { acknowledge } of packets) acknowledge();
}

const server = createServer({ noDelay: true }, (socket) => {
  const session = teltonika.createSession();
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    for (const message of session.push(bytes, 0)) {
      if (message.type === 'identify' && message.accept) socket.write(message.accept);
      else if (message.type === 'refuse') throw new Error(message.detail);
      else if (message.type === 'positions') {
        const { ack } = message;
        if (waiting.length === 0) setTimeout(commit, task.commitEveryMs);
        waiting.push({ bytes, acknowledge: () => ack && socket.write(ack) });
      }
    }
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
send({ type: 'listening', port: (server.address() as AddressInfo).port });
await awaitCommand('stop');
db.close();
rmSync(folder, { recursive: true });
send({ type: 'stopped' });
