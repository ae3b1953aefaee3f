import { readFileSync } from 'node:fs';
import type { Random } from '@outrider/simulator';

const DOCUMENT = new URL('../../../schemas/openapi.json', import.meta.url);

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema | false;
  prefixItems?: Schema[];
  additionalProperties?: Schema | boolean;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  examples?: unknown[];
  default?: unknown;
}
interface Parameter {
  name: string;
  in: string;
  schema: Schema;
  required?: boolean;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
}

/** A request as it is to be sent. */
export interface DescribedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Values that a field is not made for. */
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.1,
  1e21,
  -1e308,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  '',
  ' ',
  '0',
  'null',
  '\u0000',
  '\ud800',
  '😀'.repeat(40),
  'x'.repeat(5000),
  '../../etc/passwd',
  "'; DROP TABLE users; --",
  '%00',
  '1e5',
  '-0',
  'NaN',
  'Infinity',
  '2026-02-30T25:61:61Z',
  '0000-00-00',
  '+275760-09-13T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  'Mars/Olympus',
  'http://127.0.0.1:1/',
  'https://[::1]:1/',
  'rtsp://10.0.0.1/x',
  [],
  {},
  [[]],
  [null],
  { __proto__: null, toString: 1 },
  { constructor: { prototype: 1 } },
];
const DEPTH = 7;

/** Requests by what the OpenAPI document says of them, mostly right and wrong here and there. */
export class DescribedRequests {
  readonly #schemas: Record<string, Schema>;
  readonly #operations: { method: string; path: string; operation: Operation }[] = [];
  readonly #reads: { method: string; path: string; operation: Operation }[];
  /** Ids from earlier answers. */
  readonly #ids: string[] = [];
  /** The same by the first words of the path of the answer: a path of vehicles mostly gets ids of vehicles. */
  readonly #idsOf = new Map<string, string[]>();
  readonly #cursors: string[] = [];

  /** @param leaveOut paths that are not called */
  constructor(leaveOut: readonly string[]) {
    const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as {
      paths: Record<string, Record<string, Operation & { parameters?: (Parameter | { $ref: string })[] }>>;
      components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
    };
    const written = (parameter: Parameter | { $ref: string }) =>
      '$ref' in parameter
        ? (document.components.parameters[parameter.$ref.replace('#/components/parameters/', '')] as Parameter)
        : parameter;
    this.#schemas = document.components.schemas;
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods))
        if (!leaveOut.includes(path)) {
          const parameters = operation.parameters?.map(written) ?? [];
          this.#operations.push({ method: method.toUpperCase(), path, operation: { ...operation, parameters } });
        }
    this.#reads = this.#operations.filter(({ method }) => method === 'GET');
  }

  /**
   * What is named in an answer may be asked for from then on.
   *
   * @param asked the path of the request
   */
  learn(asked: string, answer: string): void {
    const ids = this.#idsUnder(asked);
    for (const [, id] of answer.matchAll(/"(?:id|task_id|profile_id)":"([\w-]{8,40})"/g)) remember(ids, id);
    for (const [, id] of answer.matchAll(/"\w*[iI]d":"([\w-]{8,40})"/g)) remember(this.#ids, id);
    for (const [, cursor] of answer.matchAll(/"nextCursor":"([\w-]{4,500})"/g)) remember(this.#cursors, cursor);
  }

  /** @param readsOnly nothing is asked to be changed */
  next(random: Random, readsOnly: boolean): DescribedRequest {
    const { method, path, operation } = random.pick(readsOnly ? this.#reads : this.#operations);
    /** How much of it is wrong: many are right, so that what is behind the first look is reached too. */
    const wrong = random.pick([0, 0, 0, 0.03, 0.15, 0.5]);
    const headers: Record<string, string> = {};
    const query = new URLSearchParams();
    let target = path;
    for (const { name, in: where, schema, required } of operation.parameters ?? []) {
      if (where !== 'path' && !required && random.next() < 0.5) continue;
      const value =
        name === 'cursor' && random.next() < 0.7 ? this.#cursor(random) : this.#value(schema, random, wrong, 0);
      const text = textOf(value);
      if (where === 'path') target = target.replace(`{${name}}`, encodeURIComponent(text.toWellFormed()) || '%20');
      else if (where === 'query') query.append(name, text);
      else if (where === 'header' && /^[\x20-\x7e]*$/.test(text)) headers[name] = text;
    }
    if (random.next() < wrong)
      query.append(String(random.pick(['limit', 'from', '__proto__', 'x'])), textOf(random.pick(ODD)));
    let body: Buffer | null = null;
    const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    if (type && content) {
      headers['Content-Type'] = random.next() < wrong / 4 ? 'text/plain' : type;
      const value =
        content.example !== undefined && random.next() < 0.2
          ? content.example
          : this.#value(content.schema, random, wrong, 0);
      body = Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
    }
    if (random.next() < 0.1)
      headers['Idempotency-Key'] = random.next() < 0.5 ? 'again' : 'k'.repeat(1 + Math.floor(random.next() * 300));
    const asked = query.size > 0 ? `?${query}` : '';
    const others = readsOnly ? ['HEAD', 'OPTIONS', 'TRACE'] : ['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];
    return { method: random.next() < 0.03 ? random.pick(others) : method, path: `${target}${asked}`, headers, body };
  }

  #idsUnder(path: string): string[] {
    const collection =
      path
        .split('?', 1)[0]
        ?.split('/')
        .slice(0, 5)
        .filter((word) => !/[{\d]/.test(word) || word === 'v1')
        .join('/') ?? '';
    const ids = this.#idsOf.get(collection) ?? [];
    this.#idsOf.set(collection, ids);
    return ids;
  }

  #cursor(random: Random): string {
    if (this.#cursors.length > 0 && random.next() < 0.5) return random.pick(this.#cursors);
    const made = {
      fleet: this.#id(random),
      vehicle: this.#id(random),
      after: random.pick([null, { vehicleId: this.#id(random), fixTimeMs: random.pick([0, -1e15, 1e300, 9e15]) }]),
      returned: 1e15,
      place: -1,
      left: null,
    };
    return Buffer.from(JSON.stringify(random.pick<unknown>([made, this.#id(random), random.pick(ODD)])) ?? '').toString(
      'base64url',
    );
  }

  #id(random: Random): string {
    if (this.#ids.length > 0 && random.next() < 0.85) return random.pick(this.#ids);
    return random.pick([
      '01990000-0000-7000-8000-000000000001',
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]);
  }

  #value(given: Schema, random: Random, wrong: number, depth: number): unknown {
    if (random.next() < wrong / (1 + depth / 2)) return random.pick(ODD);
    const schema = this.#resolve(given);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.#value(random.pick(choices), random, wrong, depth + 1);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.#value(part, random, 0, depth + 1)));
    if (schema.examples && random.next() < 0.7 && schema.format !== 'uuid') return random.pick(schema.examples);
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    switch (type) {
      case 'object':
        return this.#object(schema, random, wrong, depth);
      case 'array': {
        if (schema.prefixItems) return schema.prefixItems.map((item) => this.#value(item, random, wrong, depth + 1));
        const items = schema.items;
        if (!items || depth > DEPTH) return [];
        const least = Math.min(schema.minItems ?? 0, 50);
        const count = random.next() < 0.02 ? 200 : least + Math.floor(random.next() * 4);
        return Array.from({ length: Math.min(count, schema.maxItems ?? count) }, () =>
          this.#value(items, random, wrong, depth + 1),
        );
      }
      case 'integer':
      case 'number': {
        const least = schema.minimum ?? -1000;
        const most = schema.maximum ?? 1000;
        const number = random.pick([
          least,
          most,
          random.between(least, most),
          random.between(Math.max(least, 0), Math.min(most, 100)),
        ]);
        return type === 'integer' ? Math.round(number) : number;
      }
      case 'boolean':
        return random.next() < 0.5;
      case 'null':
        return null;
      default:
        return this.#text(schema, random);
    }
  }

  #object(schema: Schema, random: Random, wrong: number, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const required = schema.required?.includes(name) ?? false;
      if (required ? random.next() < wrong / 2 : random.next() < 0.5 || depth > DEPTH) continue;
      made[name] = this.#value(property, random, wrong, depth + 1);
    }
    if (random.next() < wrong / 2) made[random.pick(['extra', 'constructor', 'id', '\u0000'])] = random.pick(ODD);
    return made;
  }

  #text(schema: Schema, random: Random): string {
    switch (schema.format) {
      case 'uuid':
        return this.#id(random);
      case 'date-time':
        return new Date(Date.now() - Math.floor(random.next() ** 3 * 60 * 86_400_000)).toISOString();
      case 'date':
        return new Date(Date.now() - Math.floor(random.next() * 60 * 86_400_000)).toISOString().slice(0, 10);
      case 'email':
        return random.pick(['anna@example.invalid', 'a@b', `${'x'.repeat(200)}@example.invalid`]);
      case 'uri':
        return random.pick(['https://127.0.0.1:1/hook', 'http://[::1]:1/', 'https://example.invalid/']);
    }
    const least = schema.minLength ?? 0;
    const most = Math.min(schema.maxLength ?? 40, 5000);
    const length = random.pick([
      least,
      Math.min(most, least + Math.floor(random.next() * 12)),
      random.next() < 0.1 ? most : least + 1,
    ]);
    const characters = random.pick(['abc XYZ', '0123456789', 'яß漢😀', '"\\/<>&\'']);
    return Array.from({ length }, () => random.pick([...characters])).join('');
  }

  #resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : this.#resolve(this.#schemas[name] ?? {});
  }
}

/** As it goes into a path, a query or a header. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const MOST_REMEMBERED = 400;
function remember(list: string[], text: string | undefined): void {
  if (text === undefined || list.includes(text)) return;
  if (list.length >= MOST_REMEMBERED) list.splice(list.length >> 1, 1);
  list.push(text);
}
