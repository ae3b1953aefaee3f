import type { TerminalId } from '@outrider/domain';
import { decodeOsmand } from '@outrider/protocols';
import { afterEach, describe, expect, test } from 'vitest';
import { createHttpAckServer } from './ack-server.fixture.ts';
import { createHttpTerminal } from './http-terminal.ts';
import { generateDrive } from './recorded.ts';

const terminalId = 'phone 7' as TerminalId;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe('a phone over HTTP', () => {
  test('sends one position a request, in order, and again what was not answered with 200', async () => {
    const server = await createHttpAckServer([200, 500, 503, 200]);
    const client = createHttpTerminal({ host: '127.0.0.1', port: server.port, terminalId, backoffMs: [5, 10] });
    open.push(client, server);
    const drive = generateDrive(20, 1);
    client.record(drive);
    await client.settled();
    const reports = server.targets.map((url) =>
      decodeOsmand({ method: 'POST', url, contentType: null, body: Buffer.alloc(0), nowMs: 0 }),
    );
    expect(reports).toEqual(drive.map((position) => ({ terminalId, positions: [position], isInKnots: true })));
    expect(client.stats()).toMatchObject({ online: true, acknowledged: 20, stored: 0, lastFailure: 'HTTP 503' });
  });

  test('that is closed leaves nobody waiting', async () => {
    const server = await createHttpAckServer([500, 500, 500]);
    const client = createHttpTerminal({ host: '127.0.0.1', port: server.port, terminalId });
    open.push(server);
    client.record(generateDrive(1, 1));
    const settled = client.settled();
    settled.catch(() => {});
    await client.close();
    await expect(settled).rejects.toThrow('closed');
  });
});
