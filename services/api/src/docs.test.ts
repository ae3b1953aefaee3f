import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';
import { type ApiServer, listenApi } from './listen.ts';

interface Call {
  operation: { operationId: string };
  method: string;
  path: string;
  needsToken: boolean;
}
/** The part of the page that makes the commands: it is no TypeScript, and has no types. */
const { callsOf, curlOf, startingValues } = (await import(new URL('./docs/calls.js', import.meta.url).href)) as {
  callsOf(document: unknown, resolve: (thing: unknown) => unknown): Call[];
  startingValues(call: Call): unknown;
  curlOf(call: Call, values: unknown, base: string): string;
};

/** Follows a reference into the document, as the page does. */
function resolve(thing: unknown): unknown {
  const [, place = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec((thing as { $ref?: string }).$ref ?? '') ?? [];
  return place === '' ? thing : document.components[place]?.[name];
}

let world: World;
let http: ApiServer;
let base: string;
let document: {
  info: { description: string };
  paths: object;
  components: Record<string, Record<string, unknown>>;
};
beforeAll(async () => {
  const limits = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
  world = await World.open({ limits });
  await world.addUser('admin', 'operator');
  http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${http.port}/`;
  document = (await (await fetch(`${base}openapi.json`)).json()) as typeof document;
});
afterAll(async () => {
  await http.close(0);
  await world.close();
});

const shell = async (script: string) => (await promisify(execFile)('bash', ['-c', script], { timeout: 60_000 })).stdout;

test('the commands of the overview log in and make a call, as pasted', async () => {
  const [, commands = ''] = /```sh\n([\s\S]*?)\n```/.exec(document.info.description) ?? [];
  const answer = await shell(`set -euo pipefail\n${commands.replaceAll('http://localhost:8080/', base)}`);
  expect(JSON.parse(answer)).toMatchObject({ login: 'admin' });
  expect(commands).toContain(PASSWORD);
});

test('the curl command of every call is taken, as pasted; the first one gives the token', {
  timeout: 240_000,
}, async () => {
  const calls = callsOf(document, resolve);
  const [login] = calls;
  expect(login?.path).toBe('/auth/login');
  const { jwt } = JSON.parse(await shell(`${curlOf(login as Call, startingValues(login as Call), base)} -s`));
  expect(jwt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);

  // It ends the session, so it goes last.
  const inTurn = calls.toSorted((a, b) => Number(a.path === '/auth/logout') - Number(b.path === '/auth/logout'));
  for (const call of inTurn) {
    const command = curlOf(call, startingValues(call), base);
    const answer = await shell(`TOKEN='${jwt}'\n${command} -s -w '\\n%{http_code} %{content_type}'`);
    const [, body = '', status = ''] = /^([\s\S]*)\n(\d+) [^\n]*$/.exec(answer) ?? [];
    const what = `${call.operation.operationId}: ${command}\n${answer}`;
    const refused = /^[45]/.test(status) ? JSON.parse(body) : null;
    // What an example names, such as a vehicle, does not exist here; anything else must be right.
    if (status === '400')
      for (const { detail } of refused.errors)
        expect(detail, what).toMatch(/^There is no such [a-z ]+\.$|does not exist/);
    else if (refused !== null) expect([status, refused.type], what).toEqual(['404', 'urn:outrider:problem:not-found']);
  }
});

test('the description of the live API is served, and the pages link to it', async () => {
  const served = await (await fetch(`${base}asyncapi.json`)).text();
  expect(served).toBe(readFileSync(new URL('../../../schemas/asyncapi.json', import.meta.url), 'utf8'));
  expect(await (await fetch(base)).text()).toContain('href="/asyncapi.json"');
  expect(await (await fetch(`${base}docs/`)).text()).toContain('href="../asyncapi.json"');
  expect(await (await fetch(`${base}docs/docs.js`)).text()).toContain("'asyncapi.json'");
});

test('/api/v1 says where to go on, and every path that it names answers', async () => {
  const index = (await (await fetch(`${base}api/v1/`)).json()) as Record<string, string>;
  for (const [name, path] of Object.entries(index)) {
    if (name === 'login' || name === 'live') continue;
    expect([200, 503], name).toContain((await fetch(new URL(path, base))).status);
  }
  expect(index.documentation).toBe('/docs/');
});
