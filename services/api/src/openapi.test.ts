import { readFile } from 'node:fs/promises';
import { ALARMS, DESCRIBED_KINDS } from '@outrider/domain';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { validatorOf } from './described-answer.fixture.ts';
import { ALARM_MEANINGS } from './fields/event-meanings.ts';
import { withEvents } from './live-document.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { GROUPS } from './route.ts';
import { WebhookOut } from './routes/notifications/notifications.ts';
import { DESCRIBED } from './routes.ts';

interface Media {
  schema: Record<string, unknown>;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: unknown[];
  parameters?: { name: string; in: string; description?: string; schema: { examples?: unknown[]; enum?: unknown[] } }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}
const document = JSON.parse(JSON.stringify(openApiDocument(DESCRIBED))) as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; examples: Record<string, { value: { status: number } }> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const named = operations.map((each) => [each.operation.operationId, each] as const);

test('schemas/openapi.json is what the routes say now (else: node services/api/src/write-openapi.ts)', async () => {
  const written = await readFile(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(written)).toEqual(withSharedComponents(document));
});

test('it is a valid OpenAPI 3.1 document, by the schema of the OpenAPI Initiative', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(withSharedComponents(document)) as never);
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
  // It does find what is wrong.
  const broken = structuredClone(document) as unknown as { paths: Record<string, unknown> };
  broken.paths['/api/v1/vehicles'] = { get: { responses: { ok: {} } } };
  expect((await new Validator().validate(broken as never)).valid).toBe(false);
});

test('what operations have in common is written once, and says the same', () => {
  const shared = withSharedComponents(document);
  expect(JSON.stringify(shared).length).toBeLessThan(JSON.stringify(document).length / 1.5);
  const components = shared.components as unknown as Record<string, Record<string, unknown>>;
  const written = (part: { $ref?: string }) => {
    const [, place = '', name = ''] = /^#\/components\/(parameters|responses)\/(\w+)$/.exec(part.$ref ?? '') ?? [];
    return place === '' ? part : components[place]?.[name];
  };
  for (const [path, methods] of Object.entries(shared.paths as typeof document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const parameters = operation.parameters?.map((each) => written(each as { $ref?: string }));
      const responses = Object.entries(operation.responses).map(([status, each]) => [
        status,
        written(each as { $ref?: string }),
      ]);
      expect({ ...operation, ...(parameters && { parameters }), responses: Object.fromEntries(responses) }).toEqual(
        document.paths[path]?.[method],
      );
    }
});

test('every call of the specification that is served is at its very path', () => {
  expect(document.paths['/auth/login']?.post).toBeDefined();
  expect(document.paths['/auth/refresh']?.post).toBeDefined();
});

test('the groups of the specification are there, and those for logging in and for operations', () => {
  expect(document.tags.map(({ name }) => name)).toEqual([
    'Authentication',
    'Users',
    'Vehicles',
    'Geozones',
    'Maintenance',
    'Notifications',
    'Feeds',
    'Reports',
    'VideoService',
    'Operations',
  ]);
  for (const { description } of document.tags) expect(description).toMatch(/^[A-Z].*\.$/);
});

test('every operation has an id of its own', () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
});

describe.each(named)('%s', (_, { path, operation }) => {
  test('has a group and a summary of one line', () => {
    expect(operation.summary).toMatch(/^[A-Z].*[.?]$/);
    expect(operation.summary.length).toBeLessThan(120);
    expect(operation.tags).toHaveLength(1);
    expect(Object.keys(GROUPS)).toContain(operation.tags[0]);
    if (operation.description !== undefined) expect(operation.description).toMatch(/[.:)]$/);
  });

  test('shows what it takes: an example of the body, and of every parameter', () => {
    for (const [type, { example }] of Object.entries(operation.requestBody?.content ?? {}))
      expect(example, `an example of the body as ${type}`).toBeDefined();
    for (const { name, schema } of operation.parameters ?? [])
      expect(schema.examples ?? schema.enum, `an example of ${name}`).toBeDefined();
  });

  test('shows what it answers', () => {
    const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    expect(good.length).toBeGreaterThan(0);
    for (const [status, { description, content }] of good) {
      expect(description).not.toBe('');
      for (const [type, { example }] of Object.entries(content ?? {}))
        expect(example, `an example of ${status} as ${type}`).toBeDefined();
    }
  });

  test('lists its errors, each with an example of its status', () => {
    const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    const isOperations = operation.tags[0] === 'Operations';
    for (const [status, { description, content }] of errors) {
      expect(description).not.toBe('');
      if (isOperations && status === '503') continue;
      expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
      const examples = Object.values(content?.['application/problem+json']?.examples ?? {});
      expect(examples.length, `an example of ${status}`).toBeGreaterThan(0);
      for (const { $ref } of examples) {
        const name = $ref.replace('#/components/examples/', '');
        expect(document.components.examples[name]?.value.status).toBe(Number(status));
      }
    }
    const statuses = errors.map(([status]) => status);
    expect(statuses).toContain('500');
    if (!isOperations) expect(statuses).toContain('429');
    if (operation.security.length > 0) expect(statuses).toEqual(expect.arrayContaining(['401', '403']));
    if (operation.requestBody) expect(statuses).toEqual(expect.arrayContaining(['400', '413', '415']));
    if (path.includes('{')) expect(statuses).toEqual(expect.arrayContaining(['400', '404']));
    if (operation.parameters?.some(({ name }) => name === 'If-Match')) expect(statuses).toContain('412');
  });

  test('describes every parameter of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(described.map(({ name }) => name)).toEqual(inPath);
  });
});

test('every example is one that the service itself would take, or give', () => {
  for (const route of DESCRIBED) {
    const operation = document.paths[route.path]?.[route.method];
    for (const { example } of Object.values(operation?.requestBody?.content ?? {}))
      (route.bodyDescribed ?? route.body)?.parse(example);
    for (const parameter of operation?.parameters ?? []) {
      const shape = { path: route.params, query: route.query }[parameter.in]?.shape[parameter.name];
      for (const example of parameter.schema.examples ?? []) (shape as { parse(v: unknown): void })?.parse(example);
    }
    for (const [status, { body, otherTypes }] of Object.entries(route.answers))
      for (const [type, { example }] of Object.entries(operation?.responses[status]?.content ?? {}))
        (otherTypes?.[type] ?? body)?.parse(example);
  }
});

test('every example is valid by the schema beside it', () => {
  let checked = 0;
  const check = (schema: object, example: unknown, what: string) => {
    const validate = validatorOf(schema);
    validate(example);
    expect(validate.errors ?? [], what).toEqual([]);
    checked += 1;
  };
  for (const { method, path, operation } of operations) {
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {}))
      check(schema, example, `body of ${method} ${path}`);
    for (const [status, { content }] of Object.entries(operation.responses))
      for (const { schema, example } of Object.values(content ?? {}))
        if (example !== undefined) check(schema, example, `${status} of ${method} ${path}`);
  }
  for (const [name, { value }] of Object.entries(document.components.examples))
    check({ $ref: '#/components/schemas/Problem' }, value, name);
  expect(checked).toBeGreaterThan(operations.length);
  expect(() => check({ type: 'integer' }, 'one', 'a wrong one')).toThrow('a wrong one');
});

test('the webhook is described: its example is valid, and its headers are those that are sent', () => {
  const { post } =
    (document as unknown as { webhooks: Record<string, { post: Operation }> }).webhooks.notification ?? {};
  expect(post?.parameters?.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
  const { example } = post?.requestBody?.content['application/json'] ?? {};
  expect(WebhookOut.parse(example)).toEqual(example);
  expect(Object.keys(post?.responses ?? {})).toEqual(['2XX', 'default']);
});

test('the live API describes events as this one does; `npm run openapi` writes it anew', async () => {
  const live = JSON.parse(await readFile(new URL('../../../schemas/asyncapi.json', import.meta.url), 'utf8'));
  const shared = withSharedComponents(document as unknown as Record<string, unknown>);
  expect(live).toEqual(withEvents(live, shared));
});

test('each kind of event and each alarm is listed with what makes it', () => {
  const { description } = (document as unknown as { info: { description: string } }).info;
  // The loss of power is an event of its own.
  expect(Object.keys(ALARM_MEANINGS)).toEqual(ALARMS.filter((alarm) => alarm !== 'power-cut'));
  const meanings = Object.entries(DESCRIBED_KINDS).map(([kind, { meaning }]) => [kind, meaning] as const);
  for (const [name, meaning] of [...meanings, ...Object.entries(ALARM_MEANINGS)]) {
    expect(description).toContain(`| \`${name}\` | ${meaning} |`);
    expect(meaning).toMatch(/^[A-Z`].*\.$/);
  }
});

test('all calls but those of the authentication, of operations and of share links need a token', () => {
  const open = operations.filter(({ operation }) => operation.security.length === 0).map(({ path }) => path);
  expect(open).toEqual([
    '/auth/login',
    '/auth/refresh',
    '/auth/options',
    '/.well-known/jwks.json',
    '/auth/passkey/options',
    '/auth/passkey',
    '/auth/password-reset',
    '/auth/password-reset/complete',
    '/s/{token}/data',
    '/api/v1',
    '/health/live',
    '/health/ready',
    '/metrics',
  ]);
});

test('every reference leads somewhere, and nothing is described that is not used', () => {
  const text = JSON.stringify(document);
  for (const kind of ['schemas', 'examples'] as const) {
    const referred = new Set([...text.matchAll(new RegExp(`"#/components/${kind}/([\\w-]+)"`, 'g'))].map(([, n]) => n));
    expect([...referred].toSorted()).toEqual(Object.keys(document.components[kind]).toSorted());
  }
  expect(text).not.toContain('$defs');
});

test('the parameter of the login that asks for a token is filled in where the call is tried', () => {
  expect(document.paths['/auth/login']).toMatchObject({
    post: { parameters: [{ name: 'jwt', schema: { const: '1' }, example: '1' }] },
  });
});
