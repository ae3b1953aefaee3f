import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatePython, snake } from './generate-python.ts';

test('the Python client is that of schemas/openapi.json: `npm run openapi` writes both', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const { schema, operations } = generatePython(JSON.parse(read('../../../schemas/openapi.json')));
  expect(schema).toBe(read('../../client-python/src/outrider/_schema.py'));
  expect(operations).toBe(read('../../client-python/src/outrider/_operations.py'));
});

test('names are in Python’s spelling, and never its words', () => {
  expect(['dealerId', 'If-Match', 'from', 'listVehicles', 'Last-Event-ID'].map(snake)).toEqual([
    ...['dealer_id', 'if_match', 'from_', 'list_vehicles', 'last_event_id'],
  ]);
});

test('schemas, parameters, bodies and lists become types and methods', () => {
  const { schema, operations } = generatePython({
    components: {
      schemas: {
        Van: {
          type: 'object',
          properties: {
            name: { type: ['string', 'null'] },
            from: { enum: [1, 'a', true] },
            access: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
            more: { type: 'object', additionalProperties: { type: 'boolean' } },
          },
          required: ['name'],
        },
        Place: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
      },
    },
    paths: {
      '/vans/{id}': {
        get: {
          operationId: 'listVans',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'cursor', in: 'query', schema: { type: 'string' } },
            { name: 'groupId', in: 'query', required: true, schema: { type: 'array', items: { type: 'string' } } },
          ],
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    properties: { items: { type: 'array', items: { $ref: '#/x/y/Van' } }, nextCursor: {} },
                  },
                },
              },
            },
          },
        },
        delete: { operationId: 'deleteVan', responses: { 204: {} } },
      },
    },
  });
  expect(schema).toContain('"from": "NotRequired[Literal[1, \\"a\\", True]]"');
  expect(schema).toContain('"access": "NotRequired[VanAccess]"');
  expect(schema).toContain('"more": "NotRequired[dict[str, bool]]"');
  expect(schema).toContain('Place: TypeAlias = "list[float]"');
  expect(operations).toContain(
    'def list_vans(self, id: str, *, group_id: str | Sequence[str], cursor: str | None = None) -> ListVansResult:',
  );
  expect(operations).toContain('def all_vans(self, id: str, *, group_id: str | Sequence[str]) -> Iterator[Van]:');
  expect(operations).toContain('def delete_van(self) -> None:');
});
