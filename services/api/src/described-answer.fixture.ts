import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { openApiDocument } from './openapi.ts';
import { DESCRIBED } from './routes.ts';

/** An answer as it came, its body unread. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
}

interface DescribedResponse {
  headers?: Record<string, { description: string }>;
  content?: Record<string, { schema: object }>;
}

const document = openApiDocument(DESCRIBED) as {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, DescribedResponse> }>>;
  components: object;
};

const ajv = new Ajv2020({ strict: true, strictTuples: false, allErrors: true, allowUnionTypes: true });
// What JSON Schema leaves to those who use it: names of OpenAPI, and annotations that say nothing about validity.
ajv.addVocabulary(['example', 'components']);
// The package is CommonJS: what its types call the default is the function itself.
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components }, 'openapi');

/** References of the document lead into the document. */
function inDocument(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inDocument);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `openapi${value}` : inDocument(value),
    ]),
  );
}

const compiled = new Map<object, ValidateFunction>();
/** By the JSON of the schema: operations have separate but equal schemas of common responses, such as problems. */
const compiledTexts = new Map<string, ValidateFunction>();
/** Compiles a schema of the OpenAPI document, equal ones once. */
export function validatorOf(schema: object): ValidateFunction {
  let validate = compiled.get(schema);
  if (!validate) {
    const text = JSON.stringify(inDocument(schema));
    validate = compiledTexts.get(text) ?? ajv.compile(JSON.parse(text));
    compiledTexts.set(text, validate);
    compiled.set(schema, validate);
  }
  return validate;
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };
const PATTERNS = Object.keys(document.paths).map((path) => ({
  path,
  // Names in braces stand for one step; a path without any goes before one with.
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
PATTERNS.sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** Headers that any answer may come with, whatever is said of it. */
const OF_ALL = new Set([
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'ratelimit',
  'ratelimit-policy',
  'traceresponse',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]);
/** Described headers that come only where there is something for them to say. */
const SOMETIMES = new Set([
  // What a report lacks.
  'outrider-incomplete',
  'set-cookie',
  'content-disposition',
  '200 retry-after',
]);
/** What is served beside the calls of the document: the page, the documentation, and the document itself. */
const BESIDE = /^\/(?:|docs(?:\/.*)?|(?:open|async)api\.json|favicon\.ico|maps(?:\/.*)?|api\/v1\/)$/;

/** The operation that a request is for; undefined where the document has none. */
export function operationAt(method: string, path: string): { path: string; operationId: string } | undefined {
  const found = PATTERNS.find(({ pattern }) => pattern.test(path));
  const operationId = found && document.paths[found.path]?.[method.toLowerCase()]?.operationId;
  return found && operationId ? { path: found.path, operationId } : undefined;
}

/**
 * Holds an answer against the OpenAPI document: its status, its type, its headers, and its body by the very schema that
 * the document shows.
 *
 * @param path without the query
 */
export function holdAgainstDocument(method: string, path: string, { status, headers, text }: RawAnswer): void {
  const operation = operationAt(method, path);
  const what = `${method} ${operation?.path ?? path} answered ${status}`;
  const must = (holds: boolean, wrong: string) => {
    // Made for each of very many answers: an assertion is only built to fail.
    if (!holds) expect.fail(`${what}${wrong}`);
  };
  must(headers.get('x-content-type-options') === 'nosniff', ' without nosniff');
  must(headers.has('cache-control'), ' without the header cache-control');
  const limit = headers.get('ratelimit');
  if (limit !== null) {
    must(/^"[a-z-]+";r=\d+;t=\d+$/.test(limit), ` with the RateLimit ${limit}`);
    const policy = headers.get('ratelimit-policy') ?? 'none';
    must(/^"[a-z-]+";q=\d+;w=60$/.test(policy), ` with the RateLimit-Policy ${policy}`);
  }
  const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';

  if (!operation) {
    if (BESIDE.test(path) && status < 400) return;
    if (method === 'HEAD') {
      must(text === '', ' with a body');
      return;
    }
    must([404, 405, 429].includes(status), ', and is not described');
    if (status === 405) must(headers.has('allow'), ' without the header allow');
    must(type === 'application/problem+json', ` as ${type}`);
    holdBody(what, PROBLEM, JSON.parse(text));
    return;
  }

  const said = document.paths[operation.path]?.[method.toLowerCase()]?.responses[String(status)];
  must(said !== undefined, ', which its description does not know');
  const content = said?.content ?? {};
  const described = Object.keys(said?.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of described)
    if (!SOMETIMES.has(name) && !SOMETIMES.has(`${status} ${name}`))
      must(headers.has(name), ` without the header ${name}`);
  for (const name of headers.keys())
    must(OF_ALL.has(name) || described.includes(name), ` with the header ${name}, which is not described`);

  if (Object.keys(content).length === 0) {
    must(text === '', ' with a body');
    return;
  }
  const schema = content[type]?.schema;
  must(schema !== undefined, ` as ${type}, which is not described`);
  const body = /[/+]json$/.test(type) ? JSON.parse(text) : text;
  holdBody(what, schema as object, body);
  if (type === 'application/problem+json') must(body.status === status, ` and said ${body.status}`);
}

function holdBody(what: string, schema: object, body: unknown): void {
  const validate = validatorOf(schema);
  if (!validate(body)) expect(validate.errors, `${what} with ${JSON.stringify(body).slice(0, 1000)}`).toEqual([]);
}
