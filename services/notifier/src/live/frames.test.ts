import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { textFrame } from './frames.ts';

test.each([0, 1, 125, 126, 65_535, 65_536, 200_000])(
  'a message of %i characters is read by a WebSocket client as it was',
  async (length) => {
    const text = 'ü'.repeat(length);
    const http = createServer();
    const server = new WebSocketServer({ noServer: true });
    http.on('upgrade', (request, socket, head) =>
      server.handleUpgrade(request, socket, head, () =>
        socket.write(Buffer.concat([textFrame(text), textFrame('next')])),
      ),
    );
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
    const messages: string[] = [];
    await new Promise<void>((resolve, reject) => {
      client.on('error', reject);
      client.on('message', (data) => {
        if (messages.push(data.toString()) === 2) resolve();
      });
    });
    client.terminate();
    http.close();
    expect(messages).toEqual([text, 'next']);
  },
);
