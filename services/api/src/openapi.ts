import { PROBLEMS, type ProblemKind } from '@outrider/access';
import { sessionCookieName } from '@outrider/auth';
import { ACCOUNT_RIGHTS, QUOTA_KINDS, QUOTA_SCOPES, SERVICES } from '@outrider/domain';
import { z } from 'zod';
import { eventTables } from './fields/event-meanings.ts';
import { exampleOf } from './fields/fields.ts';
import { type LimitsConfig, SPECIFIED_LIMITS } from './http/limits.ts';
import { isRepeatable } from './http/once-only.ts';
import { examplesOf, PROBLEM_EXAMPLES } from './problem-examples.ts';
import { type Answer, type DescribedRoute, GROUPS, scopeOf } from './route.ts';
import { WebhookOut } from './routes/notifications/notifications.ts';

type Json = Record<string, unknown>;

/** Description of what all calls have in common, as Markdown. */
const about = ({
  failedLoginsPerMinute,
  unauthorizedPerMinute,
  authorizedPerMinute,
  apiKeyPerMinute = authorizedPerMinute,
  blockSeconds,
}: LimitsConfig) => `Fleet telematics: vehicles, their positions, and what they do.

## Logging in

\`POST /auth/login?jwt=1\` returns a JWT. Send it with every other call: \`Authorization: JWT <token>\`. It is valid until its \`exp\`; after that, \`POST /auth/refresh\` returns a new one. The account needs the right to use the API, which an operator grants.

\`\`\`sh
TOKEN=$(curl -s -X POST 'http://localhost:8080/auth/login?jwt=1' \\
  -H 'Content-Type: application/json' \\
  --data-binary '{"login":"admin","password":"correct horse battery staple"}' | sed 's/.*"jwt":"\\([^"]*\\)".*/\\1/')
curl 'http://localhost:8080/api/v1/me' -H "Authorization: JWT $TOKEN"
\`\`\`

## API keys

For programs that run permanently, \`POST /api/v1/api-keys\` creates a key, which needs no refresh: \`Authorization: Bearer <key>\`, or \`JWT <key>\`. A key has scopes. It may be limited to groups of vehicles, and may expire. Its user or an operator can revoke it. It never has more rights than its user has at that moment. The scope that a call needs is named in its security, under \`apiKey\`; calls without \`apiKey\` are only for people who logged in.

## Conventions

- Bodies are JSON in UTF-8. Times are ISO 8601 in UTC with milliseconds, durations are in seconds, and names end with the unit: \`speedKmh\`, \`radiusM\`.
- Lists return \`{ "items": […], "nextCursor": … }\`. Pass \`nextCursor\` as \`?cursor=\` to get the next page. It is null on the last page.
- \`PATCH\` takes a JSON merge patch: fields in the body are changed, all others keep their values.
- \`ETag\` and \`If-Match\` prevent two users from overwriting each other’s changes.
- With \`Idempotency-Key\`, a client that lost a response can send a creating POST again. The request is executed once, and the repetition gets the first response.
- A request for something that the caller may not see returns 404, exactly as if it did not exist.

## Parameters

A parameter that is not as described is refused and named in the error. It is never ignored.

- A parameter may be given only once. A parameter that is a list is repeated: \`?vehicleId=…&vehicleId=…\`. Where its description says so, its values may also be separated by commas.
- An empty value (\`?groupId=\`) is refused: leave the parameter out. Spaces around a value are removed only from search texts and names.
- Values are case-sensitive: \`true\`, \`false\` and the values of enumerations are in lower case, as shown in this document. UUIDs may also be in upper case.
- Whole numbers consist of digits only (\`100\`, not \`1e2\`, \`+100\` or \`0100\`). \`limit=0\` is refused: a page has at least one item.
- A time has an offset from UTC: \`Z\`, or \`+03:00\`, which is written as \`%2B03:00\` in a query. Unix seconds (ten digits) and milliseconds (thirteen digits) are accepted as well. The start or end of a time range may also be a day, such as \`2026-01-15\`. It stands for the start of the day in \`timeZone\` if the call has that parameter, otherwise in UTC.

## Errors

Errors are \`application/problem+json\` (RFC 9457). Their \`errors\` list everything that is wrong: by JSON pointer in the body, by name for parameters. Unknown parameters and fields are refused; the error lists the known ones.

## Limits

For an address: ${failedLoginsPerMinute} failed logins a minute, and ${unauthorizedPerMinute} calls a minute without a token. For a user: ${authorizedPerMinute} calls a minute. For an API key: ${apiKeyPerMinute} calls a minute, which do not count for its user. If a client exceeds a limit, it is blocked for ${blockSeconds} seconds: all calls of that address, user or key return 429 until the time in \`Retry-After\` is over. Calls of a console session count for its user, and are served even while their address is blocked. Meanwhile, passwords from that address are not checked, and calls with a token are refused. \`RateLimit\` and \`RateLimit-Policy\` contain the number of calls that are left. Pages, this documentation, health and metrics are not counted.

## Live

Positions, events and notifications are sent over a WebSocket at \`/live\`, described in \`/asyncapi.json\`.

## Events

An event with a duration is published twice with the same id: in phase \`begin\`, and in phase \`end\` with its end and its totals. Events are derived from positions, rules and settings:

${eventTables()}

## Webhooks

If a notification rule has a webhook, each of its notifications is sent there. The section *Webhooks* of this document describes the request, and how to verify its signature (Standard Webhooks).

## Maps

\`/maps\` lists the maps of the service: the files \`*.mbtiles\` and \`*.pmtiles\` that were in \`DATA_DIR/maps/\` when the service started, and the world map that is part of the console. \`/maps/{name}\` returns the TileJSON of a map, \`/maps/{name}/{z}/{x}/{y}\` a tile. These calls need no token and are not counted.

## Traces

If the service records traces, a call with the header \`traceparent\` (W3C Trace Context) becomes part of the caller’s trace. Every response has the header \`traceresponse\` with the trace and span of the call.`;

/** Problems of any call with a token or key of a blocked account. */
const BLOCKED = ['account-blocked', 'account-expired'] as const;

/** Problems that a call can return, including those of every call of its kind. */
function problemsOf(route: DescribedRoute): ProblemKind[] {
  // Any call refuses unknown parameters.
  const kinds: ProblemKind[] = [...(route.problems ?? []), 'invalid-request', 'internal-error'];
  if (route.access !== 'unlimited') kinds.push('too-many-requests', 'unavailable');
  if (route.access === 'authorized') kinds.push('not-authorized', ...BLOCKED, 'no-api-access', 'forbidden');
  if (route.access === 'authorized' && route.method !== 'get') kinds.push('cross-origin');
  if (isRepeatable(route)) kinds.push('conflict', 'idempotency-mismatch');
  if (route.body) kinds.push('too-large', 'unsupported-media-type');
  return kinds;
}

/**
 * The OpenAPI 3.1 document of the routes, generated from the schemas that validate requests.
 *
 * @param limits in force, for the text; default: those of the specification
 * @throws {Error} when two schemas have the same name
 */
export function openApiDocument(routes: readonly DescribedRoute[], limits: LimitsConfig = SPECIFIED_LIMITS): Json {
  const schemas: Json = { Problem: problemSchema() };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    const methods = paths[route.path] as Json;
    if (methods[route.method] !== undefined) throw new Error(`${route.method} ${route.path} is described twice`);
    methods[route.method] = operation(route, schemas);
  }
  const webhooks = { notification: { post: notificationWebhook(schemas) } };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Outrider',
      version: '1',
      description: about(limits),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      examples: examplesUsed(paths),
      securitySchemes: {
        jwt: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`JWT <token>`: the word JWT, one space, and the token from the login.',
        },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            '`Bearer <key>` or `JWT <key>`, with a key from `POST /api/v1/api-keys`. Each operation names the scope that the key needs.',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(true),
          description: `Session cookie of the console. Without TLS, its name is \`${sessionCookieName(false)}\`.`,
        },
      },
    },
  };
}

/** The request that the service sends to the webhook of a rule. */
function notificationWebhook(schemas: Json): Json {
  const header = (name: string, description: string, example: string) => ({
    ...{ name, in: 'header', required: true, description },
    schema: { type: 'string', examples: [example] },
  });
  return {
    operationId: 'notificationWebhook',
    tags: ['Notifications'],
    summary: 'Notification, as it is sent to the webhook of a rule.',
    description:
      'Follows Standard Webhooks. The signature is `v1,` followed by the base64 of the HMAC-SHA256 over ' +
      '`<webhook-id>.<webhook-timestamp>.<body>`. Its key is the base64-decoded part after `whsec_` of the secret of the rule. ' +
      'Refuse requests with another signature, or with a timestamp that differs from your clock by more than 300 seconds. ' +
      'An event is sent in each phase that the rule names. A repeated delivery has the same `webhook-id` as the first.',
    security: [],
    parameters: [
      header('webhook-id', 'Id of the delivery, the same for every attempt.', '01961f3d-05e0-7e6f-9152-8dca7fae4193'),
      header('webhook-timestamp', 'Time of this attempt, in Unix seconds.', '1768516205'),
      header('webhook-signature', 'One or more signatures, separated by spaces.', `v1,${'A'.repeat(43)}=`),
    ],
    requestBody: { required: true, content: { 'application/json': content(WebhookOut, 'output', schemas) } },
    responses: {
      '2XX': { description: 'Accepted.' },
      default: { description: 'Not accepted. The delivery is repeated for one day, at growing intervals.' },
    },
  };
}

function operation(route: DescribedRoute, schemas: Json): Json {
  const responses: Json = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const headers = { ...answer.headers, ...(status === '201' ? ADDED_HEADERS : {}) };
    responses[status] = response({ ...answer, headers }, schemas);
  }
  const byStatus = Map.groupBy(problemsOf(route), (kind) => PROBLEMS[kind][0]);
  for (const [status, kinds] of [...byStatus].toSorted(([a], [b]) => a - b))
    responses[String(status)] = {
      description: [...new Set(kinds)].map((kind) => `${PROBLEMS[kind][1]} (\`${kind}\`).`).join(' '),
      ...headersOf(PROBLEM_HEADERS[status] ?? {}),
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          examples: Object.fromEntries(
            kinds.flatMap((kind) =>
              examplesOf(kind, route).map((name) => [name, { $ref: `#/components/examples/${name}` }]),
            ),
          ),
        },
      },
    };
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...Object.entries(route.headers ?? {}).map(([name, said]) => ({
      name,
      in: 'header',
      description: typeof said === 'string' ? said : said.description,
      schema: { type: 'string', ...(typeof said === 'string' ? {} : { examples: [said.example] }) },
    })),
    ...(isRepeatable(route)
      ? [
          {
            name: 'Idempotency-Key',
            in: 'header',
            description:
              'Key chosen by the client, a new one for each request. If the same request is sent again with its key within 24 hours, ' +
              'it gets the first response and is not executed again. The service stores at most 1000 keys of an account.',
            schema: { type: 'string', maxLength: 255, examples: ['5f2c8a3e-9d41-4b6c-8e07-1a2b3c4d5e6f'] },
          },
        ]
      : []),
    ...(route.conditional
      ? [
          {
            name: 'If-Match',
            in: 'header',
            description:
              'ETag that the caller last saw. The request is refused as `stale` if there is a newer version.',
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
    security: route.access === 'authorized' ? securityOf(route) : [],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: {
              [route.bodyType ?? (route.method === 'patch' ? 'application/merge-patch+json' : 'application/json')]:
                content(route.bodyDescribed ?? route.body, 'input', schemas),
              ...(route.takesForm
                ? { 'application/x-www-form-urlencoded': content(route.body, 'input', schemas) }
                : {}),
            },
          },
        }
      : {}),
    responses,
  };
}

function securityOf(route: DescribedRoute): Json[] {
  const scope = scopeOf(route);
  return [{ jwt: [] }, ...(scope === null ? [] : [{ apiKey: [scope] }]), { cookie: [] }];
}

/** Headers of every response to a call that added something. */
const ADDED_HEADERS = { Location: 'Path of the new object.' };
/** Headers of responses by status, for all calls. */
const PROBLEM_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': '`JWT`, with the reason why the token was refused.' },
  412: { ETag: 'Current version.' },
  416: { 'Content-Range': '`bytes */` and the length of the file.' },
  429: { 'Retry-After': 'Seconds until calls are accepted again.' },
  503: { 'Retry-After': 'Seconds after which to try again.' },
};

function response(answer: Answer, schemas: Json): Json {
  const { description, body, mediaType = 'application/json', otherTypes = {}, headers = {} } = answer;
  return {
    description,
    ...headersOf(headers),
    ...(body
      ? {
          content: {
            [mediaType]: content(body, 'output', schemas),
            ...mapValues(otherTypes, (schema) => content(schema, 'output', schemas)),
          },
        }
      : {}),
  };
}

function headersOf(headers: Record<string, string>): Json {
  if (Object.keys(headers).length === 0) return {};
  return { headers: mapValues(headers, (text) => ({ description: text, schema: { type: 'string' } })) };
}

/** A body: its schema, with the first example beside it, where tools expect one. */
function content(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { examples: _, ...json } = schemaOf(schema, io, schemas) as Json;
  const example = exampleOf(schema);
  return { schema: json, ...(example === undefined ? {} : { example }) };
}

/** The examples that the paths refer to. */
function examplesUsed(paths: unknown): Json {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(PROBLEM_EXAMPLES).filter(([name]) => text.includes(`"#/components/examples/${name}"`)),
  );
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
    schema: withExamples(rest),
    // The documentation page pre-fills it: a parameter with a single possible value has it in every trial call.
    ...(rest.const === undefined ? {} : { example: rest.const }),
  }));
}

/** Gives a list without an example those of its items: zod omits the examples of transformed schemas. */
function withExamples(schema: Json): Json {
  const { examples } = (schema.items ?? {}) as Json;
  return schema.examples === undefined && examples !== undefined ? { ...schema, examples: [examples] } : schema;
}

/** A schema as JSON Schema; named schemas are moved to `schemas` and referenced. */
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

/** Redirects references to where OpenAPI keeps schemas. */
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
    description: 'An error, in the format of RFC 9457.',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', enum: Object.keys(PROBLEMS).map((kind) => `urn:outrider:problem:${kind}`) },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      errors: {
        type: 'array',
        description: 'All errors that were found in the request.',
        items: {
          type: 'object',
          required: ['detail'],
          properties: {
            pointer: { type: 'string', description: 'Place in the body, as a JSON pointer.' },
            parameter: { type: 'string', description: 'Name of a parameter in the path, the query or the headers.' },
            row: { type: 'integer', description: 'Row of a CSV file; 1 is the header.' },
            column: { type: 'string', description: 'Column of the CSV file.' },
            detail: { type: 'string' },
          },
          additionalProperties: false,
        },
      },
      right: {
        type: 'string',
        enum: [...ACCOUNT_RIGHTS, ...SERVICES],
        description: 'The right or service that the account lacks; only for `forbidden`.',
      },
      quota: {
        type: 'object',
        description: 'The quota that the request would exceed; only for `quota-exceeded`. Nothing was written.',
        required: ['scope', 'kind', 'limit', 'used', 'requested'],
        properties: {
          scope: { type: 'string', enum: [...QUOTA_SCOPES] },
          kind: { type: 'string', enum: [...QUOTA_KINDS] },
          limit: { type: 'integer' },
          used: { type: 'integer', description: 'Amount used before the request.' },
          requested: { type: 'integer', description: 'Additional amount that the request needs.' },
        },
        additionalProperties: false,
      },
      resumption: {
        type: 'object',
        description:
          'Where the client can resume the feed; only for `cursor-expired`. Everything before it is no longer available.',
        required: ['cursor', 'from'],
        properties: {
          cursor: { type: 'string' },
          from: {
            type: 'string',
            format: 'date-time',
            description: 'Time at which the oldest entry that is still available was written.',
          },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  };
}
