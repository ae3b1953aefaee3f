import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { importJWK, type JWK, jwtVerify } from 'jose';
import { awaitTask } from '../road/child.ts';

/** What a token costs, and nothing else: a route that has one verified, and answers what it was given. */
export interface BareTask {
  host: string;
  /** The public key that the tokens are signed with. */
  jwk: JWK;
  path: string;
  /** What it answers, by the last part of the path. */
  bodies: ReadonlyMap<string, unknown>;
}
export type BareMessage = { type: 'listening'; port: number };

const { task, send } = await awaitTask<BareTask, BareMessage>();
const key = await importJWK(task.jwk, 'EdDSA');
const app = new Hono();
app.get(`${task.path}/:id`, async (c) => {
  try {
    await jwtVerify(c.req.header('authorization')?.slice('JWT '.length) ?? '', key, { algorithms: ['EdDSA'] });
  } catch {
    return c.json({ title: 'not authorized' }, 401);
  }
  const body = task.bodies.get(c.req.param('id'));
  return body === undefined ? c.json({ title: 'not found' }, 404) : c.json(body);
});
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
server.listen(0, task.host);
await once(server, 'listening');
send({ type: 'listening', port: (server.address() as AddressInfo).port });
