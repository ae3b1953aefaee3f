import { readFileSync, writeFileSync } from 'node:fs';

/** A JSON schema, of the parts of 2020-12 that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: boolean | Schema;
  prefixItems?: Schema[];
  description?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  default?: unknown;
  examples?: unknown[];
}
export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}
export interface Body {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}
export interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: Body | { $ref: string };
  responses: Record<string, Body | { $ref: string }>;
}
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> };
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Writes the types of an OpenAPI document: one per schema, and `Paths`, which has every call by path and method. */
export function generateTypes(document: Document): string {
  const lines = [
    '// Generated from schemas/openapi.json by `npm run openapi`. Do not edit.',
    '',
    ...Object.entries(document.components.schemas).map(
      ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};`,
    ),
    '',
    '/** Every call of the API by path and method. */',
    'export interface Paths {',
  ];
  for (const [path, item] of Object.entries(document.paths)) {
    lines.push(`  ${JSON.stringify(path)}: {`);
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) lines.push(`    ${comment(operation.summary)}${method}: ${callOf(document, operation)};`);
    }
    lines.push('  };');
  }
  lines.push('}');
  return `${lines.join('\n')}\n`;
}

/** Generates the rules for fields of new resources, for forms: a constant for each schema `New…`. */
export function generateFields(document: Document): string {
  const constants = Object.entries(document.components.schemas)
    .filter(([name, { properties }]) => name.startsWith('New') && properties !== undefined)
    .map(([name, { properties = {}, required = [] }]) => {
      const rules = Object.entries(properties).flatMap(([field, schema]) => {
        const rule = ruleOf(schema, required.includes(field));
        return rule === null ? [] : [`${field}: ${JSON.stringify(rule)}`];
      });
      return `export const ${name}Fields = { ${rules.join(', ')} } as const satisfies Record<string, FieldRule>;`;
    });
  const lines = [
    '// Generated from schemas/openapi.json by `npm run openapi`. Do not edit.',
    "import type { FieldRule } from './field-rule.ts';",
    '',
    ...constants,
  ];
  return `${lines.join('\n')}\n`;
}

/** The part of an AsyncAPI document that names the subprotocols: binary first, then JSON. */
interface LiveDocument {
  channels: {
    live: { bindings: { ws: { headers: { properties: { 'Sec-WebSocket-Protocol': { enum: readonly string[] } } } } } };
  };
}

/** Generates the constants that the live client takes from the documents. */
export function generateLiveNames(document: Document, live: LiveDocument): string {
  const protocols = live.channels.live.bindings.ws.headers.properties['Sec-WebSocket-Protocol'].enum;
  const lines = [
    '// Generated from schemas/openapi.json and schemas/asyncapi.json by `npm run openapi`. Do not edit.',
    '',
    '/** Subprotocols: in the first, positions and states are binary; docs/live-api.md has its layout. */',
    `export const [BINARY_PROTOCOL, JSON_PROTOCOL] = ${JSON.stringify(protocols)} as const;`,
    '',
    '/** Alarms by the numbers that binary messages have for them. */',
    `export const ALARMS = ${JSON.stringify(document.components.schemas.Alarm?.enum)} as const;`,
    '',
    '/** Kinds of event. */',
    `export const EVENT_KINDS = ${JSON.stringify(kindsIn(document, 'PublishedEvent', 'kind'))} as const;`,
    '',
    '/** Kinds that notification rules may be about. */',
    `export const NOTIFIED_KINDS = ${JSON.stringify(kindsIn(document, 'NewNotificationRule', 'eventKinds'))} as const;`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The values of an enum field, or of a list of enum values. */
function kindsIn({ components }: Document, schema: string, field: string): unknown[] {
  const { items, enum: names = typeof items === 'object' ? items.enum : undefined } =
    components.schemas[schema]?.properties?.[field] ?? {};
  if (names === undefined) throw new Error(`${field} of ${schema} has no list of names`);
  return names;
}

/** Rule of a plain field; null for any other. */
function ruleOf(schema: Schema, isRequired: boolean): object | null {
  const choices = schema.anyOf ?? [schema];
  const [plain, ...others] = choices.filter(({ type }) => type !== 'null');
  if (plain === undefined || others.length > 0) return null;
  const { type, format, minimum, maximum, maxLength, enum: values } = plain;
  const isDate = format === 'date';
  if (type !== 'string' && type !== 'number' && type !== 'integer') return null;
  const example = schema.examples?.[0];
  return {
    type: values ? 'choice' : isDate ? 'date' : type === 'string' ? 'text' : type,
    isRequired,
    isNullable: choices.length > 1,
    // The format of a date needs no pattern.
    ...{
      minimum,
      maximum,
      maxLength,
      pattern: isDate ? undefined : plain.pattern,
      values,
      default: schema.default,
      example,
    },
  };
}

function callOf(document: Document, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
  const group = (place: string) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const typeOfParameter = ({ schema }: Parameter) => {
      const type = typeOf(schema);
      // A repeatable parameter may also be given as a single value.
      return schema.type === 'array' && typeof schema.items === 'object' ? `(${typeOf(schema.items)} | ${type})` : type;
    };
    const fields = own.map((one) => field(one.name, typeOfParameter(one), one.required === true));
    return fields.length === 0 ? 'never' : `{ ${fields.join('; ')} }`;
  };
  const success = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const results = success.map(([, response]) => contentType(resolve<Body>(document, response)));
  const body = operation.requestBody ? contentType(resolve<Body>(document, operation.requestBody)) : 'never';
  const parts = { path: group('path'), query: group('query'), headers: group('header'), body, result: union(results) };
  return `{ ${Object.entries(parts)
    .map(([name, type]) => `${name}: ${type}`)
    .join('; ')} }`;
}

/** The JSON type, even if other formats can be requested; without JSON, a file. */
function contentType({ content }: Body): string {
  if (content === undefined) return 'undefined';
  const [, json] =
    Object.entries(content).find(([type]) => type === 'application/json') ??
    Object.entries(content).find(([type]) => type.endsWith('+json')) ??
    [];
  return json?.schema ? typeOf(json.schema) : 'Blob';
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice) return union(choice.map(typeOf));
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })));
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return arrayOf(schema);
    case 'object':
      return objectOf(schema);
    default:
      return schema.properties ? objectOf(schema) : 'unknown';
  }
}

function arrayOf({ prefixItems, items }: Schema): string {
  const rest = typeof items === 'object' ? typeOf(items) : items === false ? null : 'unknown';
  if (!prefixItems) return `(${rest ?? 'never'})[]`;
  return `[${[...prefixItems.map(typeOf), ...(rest === null ? [] : [`...(${rest})[]`])].join(', ')}]`;
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${comment(schema.description)}${field(name, typeOf(schema), required.includes(name))}`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
  return additionalProperties === false ? 'Record<string, never>' : `Record<string, ${values}>`;
}

function field(name: string, type: string, required: boolean): string {
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${required ? '' : '?'}: ${type}`;
}

function union(types: readonly string[]): string {
  const unique = [...new Set(types)];
  return unique.length === 0 ? 'undefined' : unique.length === 1 ? `${unique[0]}` : `(${unique.join(' | ')})`;
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */ `;
}

export function resolve<T>(document: Document, value: T | { $ref: string }): T {
  if (!(value !== null && typeof value === 'object' && '$ref' in value)) return value as T;
  const [, , kind = '', name = ''] = value.$ref.split('/');
  const found = document.components[kind]?.[name];
  if (found === undefined) throw new Error(`${value.$ref} is not in the document`);
  return resolve(document, found as T | { $ref: string });
}

if (import.meta.main) {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../schemas/${name}.json`, import.meta.url), 'utf8'));
  const document = read('openapi') as Document;
  writeFileSync(new URL('schema.ts', import.meta.url), generateTypes(document));
  writeFileSync(new URL('fields.ts', import.meta.url), generateFields(document));
  writeFileSync(
    new URL('live-names.ts', import.meta.url),
    generateLiveNames(document, read('asyncapi') as LiveDocument),
  );
}
