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
}: LimitsConfig) => `Fleet telematics: vehicles, where they are, and what they do.

## Logging in

\`POST /auth/login?jwt=1\` gives a JWT. Every other call carries it: \`Authorization: JWT <token>\`. Its \`exp\` says until when; after that \`POST /auth/refresh\` gives a new one. The right to use the API is granted by the operator beforehand.

\`\`\`sh
TOKEN=$(curl -s -X POST 'http://localhost:8080/auth/login?jwt=1' \\
  -H 'Content-Type: application/json' \\
  --data-binary '{"login":"admin","password":"correct horse battery staple"}' | sed 's/.*"jwt":"\\([^"]*\\)".*/\\1/')
curl 'http://localhost:8080/api/v1/me' -H "Authorization: JWT $TOKEN"
\`\`\`

## API keys

For programs that run on, \`POST /api/v1/api-keys\` makes a key, which needs no refresh: \`Authorization: Bearer <key>\`, or \`JWT <key>\`. It has scopes, may be limited to groups of vehicles, may expire, and is revoked by its user or an operator. It never does more than its user may at that moment. Which scope a call needs stands in its security, under \`apiKey\`; calls without it are for people who logged in.

## Conventions

- Bodies are JSON in UTF-8. Times are ISO 8601 in UTC with milliseconds, durations are in seconds, and units stand in names: \`speedKmh\`, \`radiusM\`.
- Lists answer \`{ "items": […], "nextCursor": … }\`. Ask on with \`?cursor=\` and that value; null says that it was the last page.
- \`PATCH\` takes a merge patch: what it names changes, the rest stays.
- \`ETag\` and \`If-Match\` keep two people from undoing each other’s changes.
- \`Idempotency-Key\` lets a client that lost an answer send a creating POST again: it is made once, and answered as it was.
- What the caller may not see answers 404, exactly like what does not exist.

## Parameters

What is not as described is refused with its name, and never left out of account.

- A parameter is given once. One that is a list is repeated: \`?vehicleId=…&vehicleId=…\`; those that say so take its values parted by commas as well.
- An empty value (\`?groupId=\`) is refused: leave the parameter out. Only of a text that is searched for or named, spaces around it are taken off.
- Case counts: \`true\` and \`false\` and the values of closed lists are in lower case, as the document shows them. UUIDs are taken in upper case as well.
- Whole numbers are digits alone (\`100\`, not \`1e2\`, \`+100\` or \`0100\`). \`limit=0\` is refused: a page has one item at least.
- A time has an offset from UTC: \`Z\`, or \`+03:00\`, which a query writes as \`%2B03:00\`. Unix seconds (ten digits) and milliseconds (thirteen) are taken as well. An end of a time range may be a day, \`2026-01-15\`, and means its beginning: by the clock of \`timeZone\` where the call has one, else in UTC.

## Errors

Errors are \`application/problem+json\` (RFC 9457). Their \`errors\` name everything that is wrong: by JSON pointer in the body, by name among the parameters. A parameter or field that a call does not know is refused, with the list of those that it knows.

## Limits

For an address: ${failedLoginsPerMinute} failed logins a minute, and ${unauthorizedPerMinute} calls a minute without a token. For a user: ${authorizedPerMinute} calls a minute. For an API key: ${apiKeyPerMinute} calls a minute, which are not counted for its user. A client that exceeds one is blocked for ${blockSeconds} seconds: all calls of that address, user or key answer 429 until the time in \`Retry-After\` is over. A session of the console is counted by its user, and goes on while its address is blocked; passwords are not checked meanwhile, and a token does not get past it. \`RateLimit\` and \`RateLimit-Policy\` say how many calls are left. Pages, this documentation, health and metrics are not counted.

## Live

Positions, events and notifications come over a WebSocket at \`/live\`, described in \`/asyncapi.json\`.

## Events

An event that lasts is published twice under one id: in phase \`begin\`, and in phase \`end\` with its end and its totals. Positions, rules and settings make them:

${eventTables()}

## Webhooks

A notification rule with a webhook has each notification sent there: see *Webhooks* of this document for what is sent, and how its signature is checked (Standard Webhooks).

## Maps

\`/maps\` lists the maps that the service has: \`*.mbtiles\` and \`*.pmtiles\` in \`DATA_DIR/maps/\`, found at the start, and the map of the world that comes with the console. \`/maps/{name}\` is the TileJSON of one, \`/maps/{name}/{z}/{x}/{y}\` a tile. They need no token and are not counted.

## Traces

Where the service records traces, a call is part of the caller’s, if its header \`traceparent\` names one (W3C Trace Context), and every answer says in \`traceresponse\` which trace and span it was.`;

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
          description: '`JWT <token>`: the word JWT, one space, then the token from the login.',
        },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            '`Bearer <key>`, or `JWT <key>`, with a key of `POST /api/v1/api-keys`. Each operation names the scope that the key needs.',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(true),
          description: `Session of the console; named \`${sessionCookieName(false)}\` where there is no TLS.`,
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
    summary: 'What the webhook of a notification rule is sent.',
    description:
      'By the conventions of Standard Webhooks. The signature is `v1,` and the base64 of the HMAC-SHA256 over ' +
      '`<webhook-id>.<webhook-timestamp>.<body>`, with the bytes behind `whsec_` in the secret of the rule as the key. ' +
      'Refuse what is signed otherwise, or is more than 300 seconds away from your clock. An event is sent in each phase ' +
      'that the rule names; a delivery that is repeated has the `webhook-id` of the first.',
    security: [],
    parameters: [
      header('webhook-id', 'Id of the delivery, on every attempt.', '01961f3d-05e0-7e6f-9152-8dca7fae4193'),
      header('webhook-timestamp', 'Unix seconds of this attempt.', '1768516205'),
      header('webhook-signature', 'One signature or several, parted by spaces.', `v1,${'A'.repeat(43)}=`),
    ],
    requestBody: { required: true, content: { 'application/json': content(WebhookOut, 'output', schemas) } },
    responses: {
      '2XX': { description: 'Taken.' },
      default: { description: 'Not taken: it is sent again, later and later, for a day.' },
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
              'Chosen by the client, new for each request: sent again with it within 24 hours, the same request is ' +
              'answered as it was, and nothing is made twice. Of one account 1000 keys are remembered.',
            schema: { type: 'string', maxLength: 255, examples: ['5f2c8a3e-9d41-4b6c-8e07-1a2b3c4d5e6f'] },
          },
        ]
      : []),
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
const ADDED_HEADERS = { Location: 'Path of what was added.' };
/** Headers of responses by status, for all calls. */
const PROBLEM_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': '`JWT`, and why the token was not taken.' },
  412: { ETag: 'The version that it has now.' },
  416: { 'Content-Range': '`bytes */` and the length of the file.' },
  429: { 'Retry-After': 'Seconds until calls are taken again.' },
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
            row: { type: 'integer', description: 'Which row of a CSV: 1 is the header.' },
            column: { type: 'string', description: 'Which column of it.' },
            detail: { type: 'string' },
          },
          additionalProperties: false,
        },
      },
      right: {
        type: 'string',
        enum: [...ACCOUNT_RIGHTS, ...SERVICES],
        description: 'Of `forbidden`: the right or the service that the account was not given.',
      },
      quota: {
        type: 'object',
        description: 'Of `quota-exceeded`: the quota that the request would go beyond. Nothing was written.',
        required: ['scope', 'kind', 'limit', 'used', 'requested'],
        properties: {
          scope: { type: 'string', enum: [...QUOTA_SCOPES] },
          kind: { type: 'string', enum: [...QUOTA_KINDS] },
          limit: { type: 'integer' },
          used: { type: 'integer', description: 'Before the request.' },
          requested: { type: 'integer', description: 'How much more the request needs.' },
        },
        additionalProperties: false,
      },
      resumption: {
        type: 'object',
        description: 'Of `cursor-expired`: where the feed can be followed from. What was before is left out.',
        required: ['cursor', 'from'],
        properties: {
          cursor: { type: 'string' },
          from: { type: 'string', format: 'date-time', description: 'When the oldest of what follows was written.' },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  };
}
