import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { drainPending, Session } from 'chdb';

/**
 * ClickHouse's engine behind the part of its HTTP interface that the client speaks: for tests of the server's adapter
 * where no server is at hand. Requests are answered one after the other.
 *
 * @param folder for the engine's data; it must be there
 * @param port 0 takes any free one
 */
export async function openHttpFront(folder: string, port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const session = new Session(join(folder, 'data'));
  let bodies = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** Rows to be inserted go through a file: they are taken as they come, and what they are is nobody's business here. */
  async function insert(sql: string, asked: URLSearchParams, file: string): Promise<Uint8Array> {
    for (const name of ['max_partitions_per_insert_block', 'max_insert_threads', 'optimize_on_insert'])
      if (asked.has(name)) await session.queryAsync(`SET ${name} = ${Number(asked.get(name))}`);
    const fromFile = sql.replace(/FORMAT (Native|JSONCompactEachRow)\s*$/, (_, format) =>
      format === 'Native' ? `SELECT * FROM file('${file}', Native)` : `FROM INFILE '${file}' FORMAT JSONCompactEachRow`,
    );
    return (await session.queryAsync(fromFile)).bytes();
  }

  async function answer(request: IncomingMessage): Promise<Uint8Array> {
    const asked = new URL(request.url ?? '/', 'http://front').searchParams;
    await session.queryAsync(`USE ${asked.get('database') ?? 'default'}`);
    const inUrl = asked.get('query');
    if (inUrl?.startsWith('INSERT')) {
      const file = join(folder, `${++bodies}.native`);
      try {
        await pipeline(request, createWriteStream(file));
        return await insert(inUrl, asked, file);
      } finally {
        await rm(file, { force: true });
      }
    }
    const body = Buffer.concat(await request.toArray());
    const type = request.headers['content-type'] ?? '';
    const form = type.startsWith('multipart/')
      ? await new Response(body, { headers: { 'content-type': type } }).formData()
      : null;
    const parameters = Object.fromEntries(
      [...asked, ...(form ?? [])]
        .filter(([name]) => name.startsWith('param_'))
        .map(([name, value]) => [name.slice(6), String(value)]),
    );
    const sql = inUrl ?? (form ? String(form.get('query')) : body.toString());
    const result =
      Object.keys(parameters).length > 0 ? session.queryBindAsync(sql, parameters) : session.queryAsync(sql);
    return (await result).bytes();
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    turn = turn.then(async () => {
      try {
        const bytes = await answer(request);
        response.end(bytes);
      } catch (error) {
        response.writeHead(500, { 'content-type': 'text/plain' });
        response.end(error instanceof Error ? error.message : String(error));
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await drainPending();
      session.close();
      await drainPending();
    },
  };
}
