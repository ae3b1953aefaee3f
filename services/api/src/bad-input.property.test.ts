import type { ProblemKind } from '@outrider/access';
import { NOTIFIED_KINDS } from '@outrider/domain';
import { hasAllInputs } from '@outrider/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT, type Answer, type CallOptions, World } from './api.fixture.ts';
import { openApiDocument } from './openapi.ts';
import { DESCRIBED, ROUTES } from './routes.ts';

/*
 * Every way to send something bad to every operation of the document: made from the schemas that it shows, so that a
 * new operation is asked as well.
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema | false;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}
interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}
interface Described {
  operationId: string;
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  method: string;
  path: string;
  needsToken: boolean;
  parameters: readonly Parameter[];
  body: { type: string; schema: Schema; example: unknown; maxBytes: number } | null;
  takesForm: boolean;
  statuses: readonly string[];
}

const document = JSON.parse(JSON.stringify(openApiDocument(DESCRIBED))) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
const MAX_BYTES = 1024 * 1024;
/** Whether each place is sent everything that is wrong there. */
const EVERY_INPUT = hasAllInputs();
let turn = 0;
/**
 * All of them; by default, where all would take half a minute, one, another each time: of every kind of mistake each is
 * made somewhere.
 */
function some<T>(all: Iterable<T>): readonly T[] {
  const list = [...all];
  return EVERY_INPUT || list.length === 0 ? list : [list[turn++ % list.length] as T];
}
const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]): Operation => {
    const [body] = Object.entries(described.requestBody?.content ?? {});
    const route = ROUTES.find(({ operationId }) => operationId === described.operationId);
    return {
      operationId: described.operationId,
      method: method.toUpperCase(),
      path,
      needsToken: described.security.length > 0,
      parameters: described.parameters ?? [],
      body: body
        ? {
            type: body[0],
            schema: body[1].schema,
            example: body[1].example,
            maxBytes: route?.maxBodyBytes ?? MAX_BYTES,
          }
        : null,
      takesForm: described.requestBody?.content['application/x-www-form-urlencoded'] !== undefined,
      statuses: Object.keys(described.responses),
    };
  }),
);
const named = <T extends Operation>(operations: readonly T[]) =>
  operations.map((each) => [each.operationId, each] as const);
const WITH_BODY = OPERATIONS.flatMap(({ body, ...rest }) => (body ? [{ ...rest, body }] : []));
type WithBody = (typeof WITH_BODY)[number];
const WITH_JSON = WITH_BODY.filter(({ body }) => body.type.endsWith('json'));
/**
 * In a collection of its own: commands, which are of a vehicle, have tests of theirs, and so have passkeys, which sign
 * a challenge.
 */
const CREATING = WITH_JSON.filter(
  ({ method, path, statuses, operationId }) =>
    method === 'POST' && statuses.includes('201') && !path.includes('{') && operationId !== 'addPasskey',
);
const taking = (where: Parameter['in'], name?: string) =>
  OPERATIONS.filter(({ parameters }) =>
    parameters.some((each) => each.in === where && (name === undefined || each.name === name)),
  );

/** Something that nothing else has; `n` is another one each time. */
type Fresh = (n: number) => unknown;
const word: Fresh = (n) => `fresh-${n}`;
const phone: Fresh = (n) => String(13_800_000_000 + n);
const vehicle: Fresh = async () => (await made('/api/v1/vehicles')).id;

/**
 * What nothing else may have as well, in what an operation makes, and where it comes from; where there is nothing of
 * the kind, none. A new operation is entered here.
 */
const UNIQUE: Record<string, Record<string, Fresh>> = {
  addUser: { '/login': word },
  addVehicle: { '/terminalId': word },
  addVehicleGroup: { '/name': word },
  addGeozone: { '/properties/name': word },
  addNotificationRule: { '/name': word },
  addReportSchedule: { '/name': word },
  addVideoProfile: { '/vehicleId': vehicle, '/address': phone },
  addDriver: { '/codes': (n) => [`C${n}`] },
  addDriverAssignment: { '/vehicleId': vehicle },
  addMessageChannel: {},
  addForwardingDestination: {},
  addMaintenancePlan: {},
  addShareLink: {},
  addApiKey: {},
  addVideoTask: {},
};

// Reading schemas

function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  return resolved(document.components.schemas[name] ?? raise(`no schema ${name}`));
}
function raise(what: string): never {
  throw new Error(what);
}

/** All that a value may be, one by one. */
function variantsOf(schema: Schema): Schema[] {
  const { anyOf, oneOf, type, ...rest } = resolved(schema);
  const variants = anyOf ?? oneOf;
  if (variants) return variants.flatMap(variantsOf);
  if (Array.isArray(type)) return type.map((each) => ({ ...rest, type: each }));
  return [{ ...rest, ...(type === undefined ? {} : { type }) }];
}

type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';
const OF_TYPE: Record<JsonType, unknown> = {
  null: null,
  boolean: true,
  number: 7,
  string: 'seven',
  array: [],
  object: {},
};
function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}
/** Of one variant; null where it may be anything. */
function typeOfVariant({ type, const: only, enum: some }: Schema): JsonType | null {
  if (type !== undefined) return type === 'integer' ? 'number' : (type as JsonType);
  if (only !== undefined) return typeOf(only);
  return some ? typeOf(some[0]) : null;
}

/** Some value that the schema takes, with as little in it as can be. */
function sample(schema: Schema): unknown {
  const [variant = {}] = variantsOf(schema).filter((each) => typeOfVariant(each) !== 'null');
  const { examples, const: only, enum: some, default: usual } = variant;
  if (only !== undefined) return only;
  if (some) return some[0];
  if (examples) return examples[0];
  // An empty list is no sample of what may be in it.
  if (usual !== undefined && !(Array.isArray(usual) && usual.length === 0)) return usual;
  switch (typeOfVariant(variant)) {
    case 'object':
      return Object.fromEntries(
        (variant.required ?? []).map((name) => [
          name,
          sample(variant.properties?.[name] ?? raise(`no property ${name}`)),
        ]),
      );
    case 'array':
      if (variant.prefixItems) return variant.prefixItems.map(sample);
      return Array.from({ length: Math.max(1, variant.minItems ?? 0) }, () =>
        variant.items ? sample(variant.items) : 0,
      );
    case 'string':
      return variant.format === 'uuid' ? ABSENT : 'x'.repeat(Math.max(1, variant.minLength ?? 0));
    case 'number':
      return variant.minimum ?? 0;
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** A place in a body: what may stand there, and the whole body with something else there. */
interface Place {
  pointer: string;
  schema: Schema;
  put: (value: unknown) => unknown;
}
type JsonObject = Record<string, unknown>;

/** Could it be this one of several variants, by their constants? */
function isOf(value: unknown, { properties = {} }: Schema): value is JsonObject {
  if (typeOf(value) !== 'object') return false;
  return Object.entries(properties).every(
    ([name, { const: only }]) => only === undefined || (value as JsonObject)[name] === only,
  );
}

/** Every place in the bodies that a schema takes, from the outermost in. `present`: what the example has there. */
function* placesIn(place: Place, present: unknown): Generator<Place & { variant: Schema; whole: unknown }> {
  for (const variant of variantsOf(place.schema)) {
    if (variant.type === 'object') {
      const whole = isOf(present, variant) ? present : (sample(variant) as JsonObject);
      yield { ...place, variant, whole };
      for (const [name, schema] of Object.entries(variant.properties ?? {})) {
        const put = (value: unknown) => place.put({ ...whole, [name]: value });
        yield* placesIn({ pointer: `${place.pointer}/${name}`, schema, put }, whole[name]);
      }
    } else if (variant.type === 'array') {
      const fits =
        Array.isArray(present) &&
        present.length > 0 &&
        typeOf(present[0]) === typeOf((sample(variant) as unknown[])[0]);
      const whole = fits ? present : (sample(variant) as unknown[]);
      yield { ...place, variant, whole };
      const inside = variant.prefixItems ?? (variant.items ? [variant.items] : []);
      for (const [nth, schema] of inside.entries()) {
        const put = (value: unknown) => place.put(whole.with(nth, value));
        yield* placesIn({ pointer: `${place.pointer}/${nth}`, schema, put }, whole[nth]);
      }
    } else yield { ...place, variant, whole: present };
  }
}
function allPlaces({ body }: WithBody): (Place & { variant: Schema; whole: unknown })[] {
  const root: Place = { pointer: '', schema: body.schema, put: (value) => value };
  return [...placesIn(root, body.example)];
}

/** Values of the right type that a variant does not take. */
function* outside(variant: Schema, whole: unknown): Generator<unknown> {
  const {
    enum: some,
    const: only,
    pattern,
    format,
    minLength,
    maxLength,
    minItems,
    maxItems,
    minimum,
    maximum,
  } = variant;
  if (some || only !== undefined) yield typeOfVariant(variant) === 'number' ? 99_999 : 'neither';
  if (format === 'uuid') yield* ['nonsense', ABSENT.slice(1), ` ${ABSENT}`];
  if (format === 'date-time') yield* ['yesterday', '2026-01', '2026-02-30T00:00:00Z'];
  if (pattern !== undefined) {
    const isWrong = (text: string) => !new RegExp(pattern, 'u').test(text);
    yield ['\u0000', '', 'ÿ ÿ', 'x'.repeat(5000)].find(isWrong) ?? raise(`what does not match ${pattern}?`);
  }
  if (minLength) yield 'x'.repeat(minLength - 1);
  if (maxLength !== undefined) yield 'x'.repeat(maxLength + 1);
  if (minimum !== undefined) yield minimum - 1;
  if (maximum !== undefined) yield maximum + 1;
  if (variant.exclusiveMinimum !== undefined) yield variant.exclusiveMinimum;
  if (variant.exclusiveMaximum !== undefined) yield variant.exclusiveMaximum;
  if (variant.type === 'integer') yield (minimum ?? 0) + 0.5;
  const items = whole as unknown[];
  // Of one that is short of items, it is the missing one that is named.
  if (minItems && !variant.prefixItems) yield items.slice(0, minItems - 1);
  if (maxItems !== undefined && !variant.prefixItems) yield new Array(maxItems + 1).fill(items[0]);
}

// Calling

let world: World;
let jwt: string;
/** By the name of the field that holds it: something that is there. */
let there: Record<string, string>;
beforeAll(async () => {
  const limits = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
  world = await World.open({ limits });
  jwt = (await world.member('operator', 'operator')).jwt;
  there = { dealerId: (await world.member('dealer', 'dealer')).user.id };
  there.groupIds = (await made('/api/v1/vehicle-groups')).id;
  there.vehicleIds = (await made('/api/v1/vehicles')).id;
  there.vehicleId = there.vehicleIds ?? '';
  there.driverId = (await made('/api/v1/drivers')).id;
  there.geofenceIds = (await made('/api/v1/geozones')).id;
  there.profileId = (await made('/service/ovms/api/profiles')).id;
});
afterAll(() => world.close());

/** An example that names only what is there. */
function withThere(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => withThere(each, name));
  if (typeOf(value) === 'object')
    return Object.fromEntries(Object.entries(value as JsonObject).map(([key, each]) => [key, withThere(each, key)]));
  return typeof value === 'string' && there[name] !== undefined ? there[name] : value;
}
const stepsOf = (pointer: string) => pointer.split('/').slice(1);
function at(value: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>((inner, step) => (inner as JsonObject | undefined)?.[step], value);
}
function replaced(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  const object = (value ?? {}) as JsonObject;
  return { ...object, [step]: replaced(object[step], rest, by) };
}

const creating = (path: string) =>
  CREATING.find((each) => each.path === path) ?? raise(`nothing makes what is at ${path}`);
let count = 0;
/** A good body for an operation that makes something, unlike every other. */
async function freshBody({ operationId, body }: WithBody): Promise<unknown> {
  let good = withThere(body.example);
  for (const [pointer, fresh] of Object.entries(UNIQUE[operationId] ?? {})) {
    count += 1;
    good = replaced(good, stepsOf(pointer), await fresh(count));
  }
  return good;
}
/** Something new in the collection at a path, by its own operation. */
async function made(path: string): Promise<{ id: string; body: unknown }> {
  const operation = creating(path);
  const body = await freshBody(operation);
  const answer = await world.call('POST', path, { jwt, body });
  expect(answer.status, `${operation.operationId}: ${JSON.stringify(answer.body)}`).toBe(201);
  return { id: answer.body.id, body };
}

interface Asked {
  path?: Record<string, string>;
  query?: Record<string, string | null>;
  headers?: Record<string, string>;
  body?: unknown;
}
/** Makes a call that is good but for what is asked: names in the path are what examples have, there or not. */
/** An operation's path with what it names filled in, and with the query that it needs at least. */
function pathOf(operation: Operation, { path = {}, query = {} }: Pick<Asked, 'path' | 'query'> = {}): string {
  const exampleFor = ({ name, schema }: Parameter) => there[name] ?? String(sample(schema));
  const filled = operation.parameters
    .filter((each) => each.in === 'path')
    .reduce(
      (url, each) => url.replace(`{${each.name}}`, encodeURIComponent(path[each.name] ?? exampleFor(each))),
      operation.path,
    );
  const search = new URLSearchParams();
  for (const each of operation.parameters)
    if (each.in === 'query' && each.required && query[each.name] === undefined) search.set(each.name, exampleFor(each));
  for (const [name, value] of Object.entries(query)) if (value !== null) search.set(name, value);
  return search.size > 0 ? `${filled}?${search}` : filled;
}

function ask(operation: Operation, { headers = {}, body, ...named }: Asked): Promise<Answer> {
  const options: CallOptions = {
    headers: { ...(operation.body && body !== undefined ? { 'content-type': operation.body.type } : {}), ...headers },
    ...(operation.needsToken ? { jwt } : {}),
    ...(body === undefined ? {} : { body }),
  };
  return world.call(operation.method, pathOf(operation, named), options);
}
const goodBody = ({ body }: Operation) => (body ? { body: withThere(body.example) } : {});

function refused({ status, headers, body }: Answer, wanted: number, kind: ProblemKind, what: string) {
  expect([status, body.type], `${what}: ${JSON.stringify(body)}`).toEqual([wanted, `urn:outrider:problem:${kind}`]);
  expect(headers.get('content-type'), what).toBe('application/problem+json');
}
/** Refused for what is at one place of the body, and for nothing else. */
function refusedAt(answer: Answer, pointer: string, what: string): void {
  refused(answer, 400, 'invalid-request', what);
  const pointers = answer.body.errors.map((error: { pointer?: string }) => error.pointer);
  expect(pointers, what).toContain(pointer);
  for (const error of answer.body.errors) expect(error.detail, what).toMatch(/./);
}
function refusedFor(answer: Answer, parameter: string, what: string): void {
  refused(answer, 400, 'invalid-request', what);
  expect([...new Set(answer.body.errors.map((error: { parameter?: string }) => error.parameter))], what).toEqual([
    parameter,
  ]);
}

/** Nothing of it may leave a trace, or be a fault of the service. */
async function unchanged(work: () => Promise<void>): Promise<void> {
  const before = await world.registry.outbox.pending(10_000);
  await work();
  expect(await world.registry.outbox.pending(10_000)).toEqual(before);
  expect(world.logged).toEqual([]);
}

// Bodies

describe.each(named(WITH_JSON))('%s', (_, operation) => {
  const places = allPlaces(operation);

  test('a field of a wrong type is named', () =>
    unchanged(async () => {
      let asked = 0;
      for (const { pointer, schema, put } of places) {
        const types = variantsOf(schema).map(typeOfVariant);
        if (types.includes(null)) continue;
        const wrong = (Object.entries(OF_TYPE) as [JsonType, unknown][]).filter(([type]) => !types.includes(type));
        for (const [type, value] of some(wrong)) {
          refusedAt(await ask(operation, { body: JSON.stringify(put(value)) }), pointer, `${pointer} is ${type}`);
          asked += 1;
        }
      }
      expect(asked).toBeGreaterThan(EVERY_INPUT ? 4 : 0);
    }));

  test('a field that is missing is named', () =>
    unchanged(async () => {
      for (const { pointer, put, variant, whole } of places) {
        for (const name of variant.required ?? []) {
          const { [name]: __, ...rest } = whole as JsonObject;
          refusedAt(await ask(operation, { body: put(rest) }), `${pointer}/${name}`, `without ${pointer}/${name}`);
        }
        for (const nth of variant.prefixItems?.keys() ?? []) {
          const short = (whole as unknown[]).slice(0, nth);
          refusedAt(await ask(operation, { body: put(short) }), `${pointer}/${nth}`, `without ${pointer}/${nth}`);
        }
      }
    }));

  test('a field that there is not is named', () =>
    unchanged(async () => {
      for (const { pointer, put, variant, whole } of places) {
        if (variant.type !== 'object') continue;
        // Its names are the caller's own.
        if (typeof variant.additionalProperties === 'object') continue;
        expect(variant.additionalProperties, `${pointer} takes any field`).toBe(false);
        for (const name of some(['colour', 'constructor', 'toString'])) {
          const answer = await ask(operation, { body: put({ ...(whole as JsonObject), [name]: 1 }) });
          refusedAt(answer, `${pointer}/${name}`, `with ${pointer}/${name}`);
        }
        const odd = JSON.stringify(put({ ...(whole as JsonObject), 'a/b~c': 1 }));
        refusedAt(await ask(operation, { body: odd }), `${pointer}/a~1b~0c`, `with ${pointer}/a/b~c`);
        const poisoned = odd.replace('"a/b~c":1', '"__proto__":{"name":"x"}');
        refusedAt(await ask(operation, { body: poisoned }), `${pointer}/__proto__`, `with ${pointer}/__proto__`);
      }
    }));

  test('a value that is out of bounds is named', () =>
    unchanged(async () => {
      for (const { pointer, put, variant, whole } of places)
        for (const value of some(outside(variant, whole))) {
          const text = JSON.stringify(value).slice(0, 50);
          refusedAt(await ask(operation, { body: JSON.stringify(put(value)) }), pointer, `${pointer} is ${text}`);
        }
    }));
});

describe.each(named(WITH_BODY))('%s', (_, operation) => {
  test('what is no JSON, or no text, is said to be none', () =>
    unchanged(async () => {
      const isJson = operation.body.type.endsWith('json');
      for (const body of some(isJson ? ['', '{', '{"name":', 'name=x', '[1,]', '\u0000', 'NaN', '\ufeff'] : []))
        refusedAt(await ask(operation, { body }), '', `the body ${JSON.stringify(body)}`);
      const request = new Request(`http://outrider.test${pathOf(operation)}`, {
        method: operation.method,
        headers: {
          'content-type': operation.body.type,
          ...(operation.needsToken ? { authorization: `JWT ${jwt}` } : {}),
        },
        body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
      });
      const response = await world.api.fetch(request);
      const body = (await response.json()) as { errors: { pointer: string }[] };
      expect([response.status, body.errors[0]?.pointer], JSON.stringify(body)).toEqual([400, '']);
    }));

  // What takes a file as its bytes takes it whatever its type.
  const isBytes = operation.body.type === 'application/octet-stream';
  test.skipIf(isBytes)('a body of another type is refused, whatever it holds', () =>
    unchanged(async () => {
      const isJson = operation.body.type.endsWith('json');
      const body = isJson ? JSON.stringify(operation.body.example) : String(operation.body.example);
      for (const type of some([
        'text/plain',
        ...(operation.takesForm ? [] : ['application/x-www-form-urlencoded']),
        'multipart/form-data',
        'json',
        isJson ? 'text/csv' : 'application/json',
      ])) {
        const answer = await ask(operation, { body, headers: { 'content-type': type } });
        refused(answer, 415, 'unsupported-media-type', type);
      }
    }),
  );

  test('a body that is too large is refused, its length declared or not', () =>
    unchanged(async () => {
      const body = ' '.repeat(operation.body.maxBytes + 1);
      refused(await ask(operation, { body }), 413, 'too-large', 'of undeclared length');
      const headers = { 'content-length': String(body.length) };
      refused(await ask(operation, { body, headers }), 413, 'too-large', 'of declared length');
    }));
});

// Parameters

describe.each(named(taking('path')))('%s', (_, operation) => {
  test('a bad id in its path is named', () =>
    unchanged(async () => {
      for (const { name, in: where } of operation.parameters) {
        if (where !== 'path') continue;
        for (const id of some(['nonsense', ABSENT.slice(1), `${ABSENT}\u0000`, '%', "' or 1=1"]))
          refusedFor(await ask(operation, { path: { [name]: id }, ...goodBody(operation) }), name, `${name} is ${id}`);
      }
    }));
});

describe.each(named(taking('query')))('%s', (_, operation) => {
  test('a bad value in its query is named', () =>
    unchanged(async () => {
      for (const { name, in: where, schema, required } of operation.parameters) {
        if (where !== 'query') continue;
        const bad = variantsOf(schema).flatMap((variant) => [...outside(variant, [])].map(String));
        if (resolved(schema).type === 'integer') bad.push('many', '', 'NaN', 'Infinity', '1e99', '0x');
        // Whether it is a cursor that a list gave, no schema can say.
        if (name === 'cursor') {
          const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
          bad.push('', 'nonsense', cursor(null), cursor({}), cursor("' or 1=1"), cursor([ABSENT, {}]));
        }
        for (const value of some(bad))
          refusedFor(
            await ask(operation, { query: { [name]: value }, ...goodBody(operation) }),
            name,
            `${name} is ${value}`,
          );
        if (required) refusedFor(await ask(operation, { query: { [name]: null } }), name, `without ${name}`);
      }
    }));
});

describe.each(named(OPERATIONS))('%s', (_, operation) => {
  const known = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  const isLong = (schema: Schema) => variantsOf(schema).some(({ type }) => type === 'array');

  /** The call with something put behind its query. */
  function askWith(search: string): Promise<Answer> {
    const path = pathOf(operation);
    const body = operation.body ? withThere(operation.body.example) : undefined;
    return world.call(operation.method, `${path}${path.includes('?') ? '&' : '?'}${search}`, {
      ...(operation.needsToken ? { jwt } : {}),
      ...(operation.body ? { headers: { 'content-type': operation.body.type }, body } : {}),
    });
  }

  test('refuses a parameter that it does not know, names it, and lists those that it knows', () =>
    unchanged(async () => {
      const names = ['colour', 'vehicleIds', 'toString', '__proto__', 'Limit', 'limit ', ' '];
      for (const name of some(names.filter((each) => !known.includes(each)))) {
        const answer = await askWith(new URLSearchParams({ [name]: 'x' }).toString());
        refusedFor(answer, name, name);
        for (const each of known) expect(answer.body.errors[0].detail).toContain(each);
      }
      const many = await askWith('colour=1&colour=2&shade=3');
      expect(many.body.errors.map((error: { parameter: string }) => error.parameter)).toEqual(['colour', 'shade']);
    }));

  test('refuses a parameter that is repeated', () =>
    unchanged(async () => {
      for (const { name, in: where, schema } of operation.parameters) {
        if (where !== 'query' || isLong(schema) || schema.type === 'array') continue;
        const value = encodeURIComponent(there[name] ?? String(sample(schema)));
        const answer = await askWith(`${name}=${value}&${name}=${value}`);
        refusedFor(answer, name, name);
        expect(answer.body.errors[0].detail).toBe('It is given more than once.');
      }
    }));

  if (operation.body === null && !['GET', 'HEAD'].includes(operation.method) && operation.operationId !== 'refresh')
    test('takes no body, and refuses one that holds something', () =>
      unchanged(async () => {
        const headers = { 'content-type': 'application/json' };
        const withBody = (body: unknown) => ask(operation, { body, headers });
        refusedAt(await withBody({ colour: 1 }), '/colour', 'an object');
        refusedAt(await withBody('colour=1'), '', 'a form');
        refusedAt(await withBody('[1]'), '', 'a list');
      }));
});

/** What spellings of a parameter's value are taken, and which are refused with its name. */
interface Spellings {
  taken: (good: string, schema: Schema) => readonly string[];
  refused: (good: string, schema: Schema) => readonly string[];
}
type ParameterKind = 'whole' | 'decimal' | 'flag' | 'choice' | 'id' | 'time' | 'list' | 'cursor' | 'text';

/** As the section on parameters of the document says, for all operations alike. */
const SPELLINGS: Record<ParameterKind, Spellings> = {
  whole: {
    taken: (_, { minimum = 0, maximum = 0 }) => [String(minimum), String(maximum)],
    refused: (good, { minimum = 0 }) => [
      ...(minimum > 0 ? ['0'] : []),
      ...['-1', '1e2', '0x10', `+${good}`, `0${good}`, `${good}.0`, `${good}.`, `${good} `, ` ${good}`, 'true'],
    ],
  },
  decimal: {
    taken: (good, { minimum = 0 }) => [good, String(minimum), `${good}.5`],
    refused: (good) => ['0', '-1', '1e2', `+${good}`, `0${good}`, `${good},5`, '.5', `${good}.`, `${good} `],
  },
  flag: {
    taken: () => ['true', 'false'],
    refused: () => ['True', 'TRUE', 'False', '1', '0', 'yes', 'on', 'true ', ' true'],
  },
  choice: {
    taken: (_, { enum: some, const: only }) => (some ?? [only]).map(String),
    refused: (good) => [`${good} `, ` ${good}`, `${good},${good}`, ...(/[a-z]/.test(good) ? [good.toUpperCase()] : [])],
  },
  id: {
    taken: (good) => [good, good.toUpperCase()],
    refused: (good) => [`{${good}}`, `urn:uuid:${good}`, good.replaceAll('-', ''), `${good} `, '7'],
  },
  time: {
    taken: () => [
      ...['2026-01-15T12:00:00Z', '2026-01-15T12:00:00.000Z', '2026-01-15T12:00:00+03:00'],
      ...['1768478400', '1768478400000'],
    ],
    refused: () => [
      ...['2026-01-15T12:00:00', '2026-01-15t12:00:00z', '2026-01-15 12:00:00Z', '2026-01-15T12:00:00 03:00'],
      ...['176847840', '17684784000', '2026-W03', '2026-02-30', 'now', '2026-01-15T12:00:00Z '],
    ],
  },
  list: { taken: (good) => [good], refused: (good) => [`${good},,${good}`] },
  // What a list takes as its cursor, it has given itself.
  cursor: { taken: () => [], refused: (good) => [good.slice(1), `${good}!`, 'null'] },
  text: { taken: (good) => [good], refused: () => [] },
};

function parameterKindOf({ name, schema }: Parameter): ParameterKind {
  if (name === 'cursor') return 'cursor';
  if (schema.type === 'array') return 'list';
  if (schema.type === 'integer') return 'whole';
  if (schema.type === 'number') return 'decimal';
  if (schema.enum?.join() === 'true,false') return 'flag';
  if (schema.enum || schema.const !== undefined) return 'choice';
  if (schema.format === 'uuid') return 'id';
  return schema.format === 'date-time' ? 'time' : 'text';
}

describe.each(named(taking('query')))('%s', (_, operation) => {
  const inQuery = operation.parameters.filter((each) => each.in === 'query');

  test('takes each parameter in the spelling that is described, and in no other', () =>
    unchanged(async () => {
      for (const parameter of inQuery) {
        const { name, schema } = parameter;
        const kind = parameterKindOf(parameter);
        const [first = sample(schema)] = kind === 'list' ? (sample(schema) as unknown[]) : [];
        const good = there[name] ?? String(first);
        const spellings = SPELLINGS[kind];
        for (const value of some(['', ...spellings.refused(good, schema)]))
          refusedFor(
            await ask(operation, { query: { [name]: value }, ...goodBody(operation) }),
            name,
            `${kind} ${name}=${JSON.stringify(value)}`,
          );
        for (const value of some(spellings.taken(good, schema))) {
          // It would wait until then.
          if (name === 'waitSeconds' && value !== '0') continue;
          // Without a body it changes nothing, and the parameters are judged before it.
          const { body } = await ask(operation, { query: { [name]: value } });
          const named = (body?.errors ?? []).map((error: { parameter?: string }) => error.parameter);
          const isOfOthers = body?.errors?.some(({ detail }: { detail: string }) =>
            /later than|not both|for JSON|too many|does not exist|sensor/.test(detail),
          );
          if (!isOfOthers) expect(named, `${kind} ${name}=${JSON.stringify(value)}`).not.toContain(name);
        }
      }
    }));

  const lists = inQuery.filter((each) => parameterKindOf(each) === 'list');
  if (lists.length > 0)
    test('takes a parameter that means several repeated', () =>
      unchanged(async () => {
        for (const { name, schema } of lists) {
          const [first] = sample(schema) as unknown[];
          const good = encodeURIComponent(there[name] ?? String(first));
          const path = pathOf(operation);
          const url = `${path}${path.includes('?') ? '&' : '?'}${name}=${good}&${name}=${good}`;
          const { body } = await world.call(operation.method, url, { jwt });
          for (const { detail } of body?.errors ?? []) expect(detail, url).not.toContain('more than once');
        }
      }));
});

test('an unknown parameter of a list of trips does not widen it to the whole fleet', async () => {
  const answer = await world.call(
    'GET',
    `/api/v1/reports/trips?from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z&vehicleIds=${there.vehicleId}`,
    { jwt },
  );
  refusedFor(answer, 'vehicleIds', 'trips');
  expect(answer.body.errors[0].detail).toContain('vehicleId, groupId');
});

test('a rule takes the kinds of event that there are, and lists them where it is asked for another', async () => {
  const rule = { name: 'Engine', eventKinds: ['trip', 'engine-on'], timeZone: 'UTC' };
  const answer = await world.call('POST', '/api/v1/notification-rules', { jwt, body: rule });
  refusedAt(answer, '/eventKinds/1', 'a kind that there is not');
  for (const kind of NOTIFIED_KINDS) expect(answer.body.errors[0].detail).toContain(`"${kind}"`);
});

test('an unknown field is named with those that are known at its place', async () => {
  const days = { on: 'weekdays', weekday: ['monday'], weekdays: ['monday'] };
  const rule = { name: 'Engine', eventKinds: ['trip'], timeZone: 'UTC', days };
  const answer = await world.call('POST', '/api/v1/notification-rules', { jwt, body: rule });
  refusedAt(answer, '/days/weekday', 'one letter short');
  expect(answer.body.errors[0].detail).toBe('There is no such field. Known fields: on, weekdays.');
});

describe.each(named(taking('header', 'Idempotency-Key')))('%s', (_, operation) => {
  test('a bad Idempotency-Key is named', () =>
    unchanged(async () => {
      for (const key of some(['x'.repeat(256), 'two words', 'ÿ']))
        refusedFor(
          await ask(operation, { headers: { 'idempotency-key': key }, ...goodBody(operation) }),
          'Idempotency-Key',
          key,
        );
    }));
});

async function etagAt(path: string): Promise<string> {
  return (await world.call('GET', path, { jwt })).headers.get('etag') ?? raise(`${path} has no ETag`);
}

/** Counters, which are of a vehicle, have tests of theirs. */
const CONDITIONAL = taking('header', 'If-Match').filter(({ path }) => path.split('{').length <= 2);

describe.each(named(CONDITIONAL))('%s', (_, operation) => {
  test('a bad If-Match is named, and one that is stale is refused with the version that it has now', async () => {
    const [, collection, name = ''] = /^(.+)\/\{(\w+)\}$/.exec(operation.path) ?? [];
    // What has no id is there from the beginning, one for each account.
    const path = collection === undefined ? {} : { [name]: (await made(collection)).id };
    const current = await etagAt(collection === undefined ? operation.path : `${collection}/${Object.values(path)[0]}`);
    await unchanged(async () => {
      for (const tag of some(['1', '"1', 'W/1', '"1", 2', '']))
        refusedFor(
          await ask(operation, { path, headers: { 'if-match': tag }, ...goodBody(operation) }),
          'If-Match',
          tag,
        );
      for (const tag of some(['"999999"', '"0"', 'W/"1"', '"another"', '"7", "8"'])) {
        const answer = await ask(operation, { path, headers: { 'if-match': tag }, ...goodBody(operation) });
        refused(answer, 412, 'stale', tag);
        expect(answer.headers.get('etag')).toBe(current);
      }
    });
    const answer = await ask(operation, { path, headers: { 'if-match': current }, ...goodBody(operation) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  });
});

// What must be the only one

describe.each(named(CREATING))('%s', (_, operation) => {
  const { operationId, path } = operation;

  test('it is known what must be unique in it', () => {
    expect(Object.keys(UNIQUE)).toContain(operationId);
  });

  test('what another has already is named as a conflict, when it is made and when it is changed', async () => {
    const unique = Object.keys(UNIQUE[operationId] ?? {});
    const first = await made(path);
    if (unique.length === 0) {
      expect((await world.call('POST', path, { jwt, body: first.body })).status).toBe(201);
      return;
    }
    const second = await made(path);
    const patching = WITH_JSON.find(
      (each) => each.method === 'PATCH' && each.path.slice(0, each.path.lastIndexOf('/')) === path,
    );
    for (const pointer of unique) {
      const taken = at(first.body, pointer);
      const another = replaced(await freshBody(operation), stepsOf(pointer), taken);
      const isPatched = patching && allPlaces(patching).some((place) => place.pointer === pointer);
      await unchanged(async () => {
        const answers = [await world.call('POST', path, { jwt, body: another })];
        if (isPatched)
          answers.push(
            await world.call('PATCH', `${path}/${second.id}`, { jwt, body: replaced({}, stepsOf(pointer), taken) }),
          );
        for (const answer of answers) {
          refused(answer, 409, 'conflict', pointer);
          expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
        }
      });
    }
  });

  test('what it names must be there', async () => {
    const good = await freshBody(operation);
    const root: Place = { pointer: '', schema: operation.body.schema, put: (value) => value };
    let asked = 0;
    await unchanged(async () => {
      for (const { pointer, variant, put } of placesIn(root, good)) {
        if (variant.format !== 'uuid') continue;
        // What the vehicle itself consists of gets the ids that its creator gives it.
        if (pointer.startsWith('/sensors/')) continue;
        // The list excludes the vehicle that the body names beside it: it is refused as a whole.
        const isExcluded = pointer === '/vehicleIds/0' && 'vehicleId' in (good as object);
        // Nor does its kind of report take drivers.
        const isOfOthers = pointer === '/driverIds/0' && 'frequency' in (good as object);
        const at = isExcluded || isOfOthers ? pointer.replace('/0', '') : pointer;
        refusedAt(await world.call('POST', path, { jwt, body: put(ABSENT) }), at, `${pointer} is nowhere`);
        asked += 1;
      }
    });
    expect(asked > 0).toBe(operationId !== 'addMessageChannel');
  });
});

describe('a query of a report', () => {
  const range = 'from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z';
  const asked = async (query: string) => {
    const { status, body } = await world.call('GET', `/api/v1/reports/trips?${query}`, { jwt });
    return { status, details: (body.errors ?? []).map((error: { detail: string }) => error.detail) };
  };

  test.each([
    ['says that a time is missing', 'to=2026-01-16T00:00:00Z', 'It is missing.'],
    ['says what a limit may be', `${range}&limit=1001`, 'It must be 1 to 1000.'],
    ['says that a range is empty', 'from=2026-01-15&to=2026-01-15', 'It must be later than from.'],
    [
      'begins a day by the clock of its zone',
      'from=2026-01-15&to=2026-01-14T23:00:00Z&timeZone=Europe/Berlin',
      'It must be later than from.',
    ],
  ])('%s', async (_, query, detail) => {
    expect(await asked(query)).toEqual({ status: 400, details: [detail] });
  });

  test.each([
    ['days', 'from=2026-01-15&to=2026-01-16'],
    ['a day by the clock of its zone', 'from=2026-01-15&to=2026-01-14T23:00:01Z&timeZone=Europe/Berlin'],
    ['Unix seconds', 'from=1768478400&to=1768482000'],
    ['a vehicle twice, repeated', `${range}&vehicleId=ID&vehicleId=ID`],
    ['a vehicle twice, parted by a comma', `${range}&vehicleId=ID,ID`],
  ])('takes %s', async (_, query) => {
    expect((await asked(query.replaceAll('ID', there.vehicleId?.toUpperCase() ?? ''))).status).toBe(200);
  });
});
