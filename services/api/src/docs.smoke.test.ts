import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';
import { type ApiServer, listenApi } from './http/listen.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: { examples?: unknown[]; enum?: unknown[]; const?: unknown };
}
interface Operation {
  operationId: string;
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example: unknown }> };
}

let world: World;
let http: ApiServer;
let base: string;
let document: {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, Parameter>>;
};
beforeAll(async () => {
  const limits = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
  world = await World.open({ limits, publicUrl: 'http://localhost' });
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

/** The request that the document shows for a call: its examples, and of the parameters those that are needed. */
function exampleRequest(path: string, method: string, operation: Operation): { url: URL; init: RequestInit } {
  const headers: Record<string, string> = {};
  const url = new URL(base);
  let at = path;
  for (const given of operation.parameters ?? []) {
    const [, name = ''] = /^#\/components\/parameters\/(\w+)$/.exec((given as { $ref?: string }).$ref ?? '') ?? [];
    const parameter = name === '' ? given : document.components.parameters?.[name];
    if (parameter === undefined) throw new Error(`no parameter ${name}`);
    const { schema } = parameter;
    const value = String(schema.const ?? schema.examples?.[0] ?? schema.enum?.[0]);
    if (parameter.in === 'path') at = at.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (!parameter.required && schema.const === undefined) continue;
    else if (parameter.in === 'query') url.searchParams.set(parameter.name, value);
    else headers[parameter.name] = value;
  }
  url.pathname = at;
  const [content] = Object.entries(operation.requestBody?.content ?? {});
  if (content === undefined) return { url, init: { method, headers } };
  const [type, { example }] = content;
  const body = typeof example === 'string' ? example : JSON.stringify(example);
  return { url, init: { method, headers: { ...headers, 'content-type': type }, body } };
}

test('every call takes its examples', { timeout: 120_000 }, async () => {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, operation, method: method.toUpperCase() })),
  );
  // It ends the session, so it goes last.
  calls.sort((a, b) => Number(a.path === '/auth/logout') - Number(b.path === '/auth/logout'));
  const { jwt } = (await world.login('admin', PASSWORD)).body;
  for (const { path, method, operation } of calls) {
    const { url, init } = exampleRequest(path, method, operation);
    const needsToken = operation.security.length > 0 || path === '/auth/refresh';
    const authorization = needsToken ? { authorization: `JWT ${jwt}` } : {};
    const answer = await fetch(url, { ...init, headers: { ...(init.headers as object), ...authorization } });
    const what = `${operation.operationId}: ${method} ${url} ${answer.status}`;
    if (answer.ok) {
      await answer.arrayBuffer();
      continue;
    }
    // What an example names, such as a vehicle or a code, does not exist here; anything else must be right.
    const { type, errors } = (await answer.json()) as { type: string; errors?: { detail: string }[] };
    if (answer.status === 400)
      for (const { detail } of errors ?? [])
        expect(detail, what).toMatch(
          /^There is no such [a-z ]+\.$|does not exist|^It is not the current code|^It has expired/,
        );
    else if (operation.operationId === 'signInByPasskey') expect(type).toBe('urn:outrider:problem:wrong-passkey');
    else expect([answer.status, type], what).toEqual([404, 'urn:outrider:problem:not-found']);
  }
});

test('the limits that it names are those in force', async () => {
  const limits = { failedLoginsPerMinute: 11, authorizedPerMinute: 222, unauthorizedPerMinute: 33, blockSeconds: 44 };
  const other = await World.open({ limits });
  const { info } = (await other.call('GET', '/openapi.json')).body;
  for (const limit of Object.values(limits)) expect(info.description).toMatch(new RegExp(`\\b${limit} `));
  await other.close();
});

test('the page loads its parts from this service, and the document that is served', async () => {
  const page = await (await fetch(`${base}docs/`)).text();
  const parts = [...page.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => path);
  expect(parts).toContain('swagger-ui-bundle.js');
  expect(parts).toContain('init.js');
  for (const part of parts) {
    const url = new URL(part as string, `${base}docs/`);
    expect(url.origin).toBe(new URL(base).origin);
    expect((await fetch(url)).status, url.pathname).toBe(200);
  }
  expect(page).not.toMatch(/<script>|<style>|\sstyle=|\son\w+=/);
  const start = await (await fetch(`${base}docs/init.js`)).text();
  // Without these the links of the specification lead nowhere, and a validator elsewhere gets the document.
  expect(start).toContain('deepLinking: true');
  expect(start).toContain('validatorUrl: null');
  expect(start).toContain("url: '../openapi.json'");
});

test('the live API and the topics are shown by a page that loads its parts from this service', async () => {
  const page = await (await fetch(`${base}docs/messages.html`)).text();
  for (const [, part = ''] of page.matchAll(/(?:src|href)="(?!data:|\?)([^"]+)"/g))
    expect((await fetch(new URL(part, `${base}docs/`))).status, part).toBe(200);
  expect(page).not.toMatch(/<script>|<style>|\sstyle=|\son\w+=/);
  expect(await (await fetch(`${base}docs/`)).text()).toContain('href="messages.html?document=live"');
  const served = await fetch(`${base}docs/messages.js`);
  expect(served.headers.get('content-type')).toContain('javascript');
  // What descriptions say is never taken for markup.
  expect(await served.text()).not.toMatch(/innerHTML|insertAdjacentHTML|outerHTML|eval/);
});

test('without a console, links such as /#/Users/ are led to the documentation', async () => {
  const page = await (await fetch(base)).text();
  expect(page).toContain('<script src="/docs/root.js"></script>');
  expect(page).not.toMatch(/<script>|\son\w+=/);
  const script = await (await fetch(`${base}docs/root.js`)).text();
  const led: string[] = [];
  for (const hash of ['#/Users/', '#/VideoService/', '#top', '']) {
    const location = { hash, replace: (to: string) => led.push(to) };
    new Function('location', 'addEventListener', script)(location, () => {});
  }
  expect(led).toEqual(['/docs/#/Users/', '/docs/#/VideoService/']);
});

test('the description of the live API is served, and the pages link to it', async () => {
  const served = await (await fetch(`${base}asyncapi.json`)).text();
  expect(served).toBe(readFileSync(new URL('../../../schemas/asyncapi.json', import.meta.url), 'utf8'));
  expect(await (await fetch(base)).text()).toContain('href="/asyncapi.json"');
  expect(await (await fetch(`${base}docs/`)).text()).toContain('href="../asyncapi.json"');
});

test('/api/v1 says where to go on, and every path that it names answers', async () => {
  const index = (await (await fetch(`${base}api/v1/`)).json()) as Record<string, string>;
  for (const [name, path] of Object.entries(index)) {
    if (name === 'login' || name === 'live') continue;
    expect([200, 503], name).toContain((await fetch(new URL(path, base))).status);
  }
  expect(index.documentation).toBe('/docs/');
});
