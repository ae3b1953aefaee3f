import { z } from 'zod';
import { PROBLEMS, type ProblemKind } from './problem.ts';
import { GROUPS, type Route } from './route.ts';

type Json = Record<string, unknown>;

/** Every call of a kind can meet these. */
function problemsOf(route: Route): ProblemKind[] {
  const kinds: ProblemKind[] = [...(route.problems ?? []), 'too-many-requests', 'internal-error'];
  if (route.access === 'authorized') kinds.push('not-authorized', 'no-api-access');
  if (route.params || route.query || route.body || route.conditional) kinds.push('invalid-request');
  if (route.body) kinds.push('too-large', 'unsupported-media-type');
  return kinds;
}

/**
 * The OpenAPI 3.1 document of the routes: generated from the very schemas that requests are validated by.
 *
 * @throws {Error} when two schemas have one name
 */
export function openApiDocument(routes: readonly Route[]): Json {
  const schemas: Json = { Problem: problemSchema() };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    const methods = paths[route.path] as Json;
    if (methods[route.method] !== undefined) throw new Error(`${route.method} ${route.path} is described twice`);
    methods[route.method] = operation(route, schemas);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Outrider',
      version: '1',
      description: 'Fleet telematics: vehicles, where they are, and what they do.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        jwt: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`JWT <token>`: the word JWT, one space, then the token from the login.',
        },
      },
    },
  };
}

function operation(route: Route, schemas: Json): Json {
  const responses: Json = {};
  for (const [status, { description, body, headers }] of Object.entries(route.answers))
    responses[status] = {
      description,
      ...(headers
        ? { headers: mapValues(headers, (text) => ({ description: text, schema: { type: 'string' } })) }
        : {}),
      ...(body ? { content: { 'application/json': { schema: schemaOf(body, 'output', schemas) } } } : {}),
    };
  const byStatus = Map.groupBy(problemsOf(route), (kind) => PROBLEMS[kind][0]);
  for (const [status, kinds] of [...byStatus].toSorted(([a], [b]) => a - b))
    responses[String(status)] = {
      description: [...new Set(kinds)].map((kind) => `${PROBLEMS[kind][1]} (\`${kind}\`).`).join(' '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    };
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: { type: 'string' },
    })),
    ...(route.conditional
      ? [
          {
            name: 'If-Match',
            in: 'header',
            description: 'ETag that the caller last saw: refused as `stale` when it was changed meanwhile.',
            schema: { type: 'string', examples: ['"1"'] },
          },
        ]
      : []),
  ];
  return {
    operationId: route.operationId,
    tags: [route.group],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: route.access === 'authorized' ? [{ jwt: [] }] : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: {
              [route.method === 'patch' ? 'application/merge-patch+json' : 'application/json']: {
                schema: schemaOf(route.body, 'input', schemas),
              },
            },
          },
        }
      : {}),
    responses,
  };
}

function parametersOf(schema: z.ZodObject | null, place: 'path' | 'query', schemas: Json): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', schemas) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(place === 'path' || required.includes(name) ? { required: true } : {}),
    schema: rest,
  }));
}

/** A schema as JSON Schema; those that have a name are put into `schemas` and referred to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): unknown {
  const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io }) as Json & { $defs?: Json };
  for (const [name, definition] of Object.entries($defs)) keep(name, definition, schemas);
  return refer(json);
}

function keep(name: string, definition: unknown, schemas: Json): void {
  const schema = refer(definition);
  if (schemas[name] !== undefined && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
    throw new Error(`two schemas are named ${name}`);
  schemas[name] = schema;
}

/** Points references at where OpenAPI keeps schemas. */
function refer(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(refer);
  if (typeof json !== 'object' || json === null) return json;
  return mapValues(json as Json, (value, key) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : refer(value),
  );
}

function mapValues<T, R>(object: Record<string, T>, map: (value: T, key: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

function problemSchema(): Json {
  return {
    type: 'object',
    description: 'RFC 9457.',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', enum: Object.keys(PROBLEMS).map((kind) => `urn:outrider:problem:${kind}`) },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      errors: {
        type: 'array',
        description: 'Each thing that is wrong with the request.',
        items: {
          type: 'object',
          required: ['detail'],
          properties: {
            pointer: { type: 'string', description: 'Where in the body: a JSON pointer.' },
            parameter: { type: 'string', description: 'Which parameter of path, query or header.' },
            detail: { type: 'string' },
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  };
}
