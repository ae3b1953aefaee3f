import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { type Engine, WarehouseAwayError } from './engine.ts';
import { openServer } from './server.ts';

test('an insert that nobody answers is broken off', async () => {
  const server = createServer(async (request, response) => {
    const asked = new URL(request.url ?? '/', 'http://server').searchParams.get('query') ?? '';
    await request.toArray();
    // What is asked as it is opened is answered; an insert never is.
    if (!asked.startsWith('INSERT')) response.end(JSON.stringify({ meta: [], data: [], rows: 0 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = await openServer({ url, insertWithinMs: 200 });
  try {
    const column = { name: 'vehicle', type: 'String', chunks: [Buffer.from([1, 0x61])] };
    await expect(engine.insert('positions', { rows: 1, columns: [column] } as never)).rejects.toThrow();
  } finally {
    await engine.close();
    server.closeAllConnections();
    server.close();
  }
});

test('a server that does not answer is reported as unavailable; one that refuses is not', async () => {
  const server = createServer(async (request, response) => {
    const asked = String(Buffer.concat(await request.toArray()));
    if (asked.includes('refused'))
      response
        .writeHead(400, { 'x-clickhouse-exception-code': '62' })
        .end('Code: 62. DB::Exception: no. (SYNTAX_ERROR)');
    else response.end(JSON.stringify({ meta: [], data: [], rows: 0 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = await openServer({ url });
  try {
    const refused = engine.select({ sql: 'SELECT refused', parameters: {} });
    await expect(refused).rejects.toThrow(ClickHouseError);
    server.closeAllConnections();
    server.close();
    await expect(engine.select({ sql: 'SELECT 1', parameters: {} })).rejects.toThrow(WarehouseAwayError);
    await expect(made(engine, twoRows())).rejects.toThrow(WarehouseAwayError);
  } finally {
    await engine.close();
  }
});

test('what makes the rows of a file fail is reported as it is, and a server that goes away meanwhile as that', async () => {
  const server = createServer(async (request, response) => {
    const asked = String(Buffer.concat(await request.toArray().catch(() => [])));
    if (asked.startsWith('SELECT *')) request.socket.destroy();
    else response.end(JSON.stringify({ meta: [], data: [], rows: 0 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const engine = await openServer({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  try {
    await expect(made(engine, twoRows())).rejects.toThrow(WarehouseAwayError);
    const broken = new Error('the report is too long');
    await expect(made(engine, twoRows(broken))).rejects.toBe(broken);
  } finally {
    await engine.close();
    server.closeAllConnections();
    server.close();
  }
});

/** @param failure instead of the second */
async function* twoRows(failure?: Error): AsyncGenerator<string> {
  yield '["a"]\n';
  if (failure) throw failure;
  yield '["b"]\n';
}

async function made(engine: Engine, lines: AsyncIterable<string>): Promise<void> {
  for await (const _ of engine.file({ format: 'Parquet', columns: [{ name: 'name', type: 'String' }], lines }));
}

test('opening a server that accepts connections but never answers fails', async () => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await expect(openServer({ url, openWithinMs: 200 })).rejects.toThrow(/abort/i);
  silent.closeAllConnections();
  silent.close();
});
