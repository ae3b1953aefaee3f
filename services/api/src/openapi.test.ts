import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';
import { GROUPS } from './route.ts';
import { ROUTES } from './routes.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: unknown[];
  responses: Record<string, unknown>;
}
const document = JSON.parse(JSON.stringify(openApiDocument(ROUTES))) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test('schemas/openapi.json is what the routes say now (else: node services/api/src/write-openapi.ts)', async () => {
  const written = await readFile(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(written)).toEqual(document);
});

test('every call of the specification that is served is at its very path', () => {
  expect(document.paths['/auth/login']?.post).toBeDefined();
  expect(document.paths['/auth/refresh']?.post).toBeDefined();
});

test('every operation has an id of its own, a group, a summary of one line and an answer', () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { operation } of operations) {
    expect(operation.summary).toMatch(/^[A-Z].*\.$/);
    expect(Object.keys(GROUPS)).toContain(operation.tags[0]);
    expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true);
    expect(operation.responses['429']).toBeDefined();
  }
});

test('all calls but those of the authorization need a token', () => {
  const open = operations.filter(({ operation }) => operation.security.length === 0).map(({ path }) => path);
  expect(open).toEqual(['/auth/login', '/auth/refresh', '/.well-known/jwks.json']);
});

test('every reference leads somewhere, and nothing is described that is not used', () => {
  const text = JSON.stringify(document);
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
  expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  expect(text).not.toContain('$defs');
});

test('every parameter of a path is described', () => {
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = ((operation as unknown as { parameters?: { in: string; name: string }[] }).parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => parameter.name);
    expect(described).toEqual(named);
  }
});
