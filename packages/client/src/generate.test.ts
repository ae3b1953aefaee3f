import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateFields, generateLiveNames, generateTypes } from './generate.ts';

test('the types are those of schemas/openapi.json: `npm run openapi` writes both', () => {
  const schema = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../schemas/${name}.json`, import.meta.url), 'utf8'));
  const document = schema('openapi');
  expect(generateTypes(document)).toBe(readFileSync(new URL('schema.ts', import.meta.url), 'utf8'));
  expect(generateFields(document)).toBe(readFileSync(new URL('fields.ts', import.meta.url), 'utf8'));
  const names = generateLiveNames(document, schema('asyncapi'));
  expect(names).toBe(readFileSync(new URL('live-names.ts', import.meta.url), 'utf8'));
});

test('the plain fields of new resources become rules for forms', () => {
  const text = generateFields({
    components: {
      schemas: {
        NewVan: {
          type: 'object',
          properties: {
            name: { type: 'string', maxLength: 9 },
            limit: { default: null, anyOf: [{ type: 'number', minimum: 1, maximum: 5 }, { type: 'null' }] },
            icon: { enum: ['car'], type: 'string' },
            groups: { type: 'array' },
          },
          required: ['name'],
        },
        Van: { type: 'object', properties: {} },
      },
    },
    paths: {},
  });
  expect(text).toContain(
    'export const NewVanFields = { name: {"type":"text","isRequired":true,"isNullable":false,"maxLength":9}, ' +
      'limit: {"type":"number","isRequired":false,"isNullable":true,"minimum":1,"maximum":5,"default":null}, ' +
      'icon: {"type":"choice","isRequired":false,"isNullable":false,"values":["car"]} } as const',
  );
  expect(text).not.toContain('VanFields = {}');
});

test('schemas, parameters, bodies and results become types', () => {
  const text = generateTypes({
    components: {
      parameters: { Limit: { name: 'limit', in: 'query', schema: { type: 'integer' } } },
      schemas: {
        Place: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
        Van: {
          type: 'object',
          properties: {
            name: { type: ['string', 'null'] },
            'odd-name': { enum: [1, 'a'] },
            at: { $ref: '#/x/y/Place' },
          },
          required: ['name'],
          additionalProperties: false,
        },
        Bag: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
    },
    paths: {
      '/vans/{id}': {
        get: {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { $ref: '#/components/parameters/Limit' },
          ],
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/x/y/Van' } }, 'text/csv': {} } },
            404: { content: { 'application/problem+json': { schema: { type: 'null' } } } },
          },
        },
        delete: { responses: { 204: {} } },
      },
    },
  });
  expect(text).toContain('export type Place = [number, number];');
  expect(text).toContain('export type Van = { name: (string | null); "odd-name"?: (1 | "a"); at?: Place };');
  expect(text).toContain('export type Bag = Record<string, boolean>;');
  expect(text).toContain(
    'get: { path: { id: string }; query: { limit?: number }; headers: never; body: never; result: Van };',
  );
  expect(text).toContain('delete: { path: never; query: never; headers: never; body: never; result: undefined };');
});

test('a reference to nothing is refused by name', () => {
  const parameters = [{ $ref: '#/components/parameters/Gone' }];
  const paths = { '/a': { get: { parameters, responses: {} } } };
  expect(() => generateTypes({ components: { schemas: {} }, paths })).toThrow('#/components/parameters/Gone');
});
