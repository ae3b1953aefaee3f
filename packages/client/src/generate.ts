import { readFileSync, writeFileSync } from 'node:fs';

/** A JSON schema, of the parts of 2020-12 that the document uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
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
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}
interface Body {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}
interface Operation {
  summary?: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: Body | { $ref: string };
  responses: Record<string, Body | { $ref: string }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

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

function callOf(document: Document, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
  const group = (place: string) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const fields = own.map(({ name, required, schema }) => field(name, typeOf(schema), required === true));
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

/** JSON as its type, also where other formats can be asked for; without any JSON, a file. */
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

function resolve<T>(document: Document, value: T | { $ref: string }): T {
  if (!(value !== null && typeof value === 'object' && '$ref' in value)) return value as T;
  const [, , kind = '', name = ''] = value.$ref.split('/');
  const found = document.components[kind]?.[name];
  if (found === undefined) throw new Error(`${value.$ref} is not in the document`);
  return resolve(document, found as T | { $ref: string });
}

if (import.meta.main) {
  const schemas = new URL('../../../schemas/openapi.json', import.meta.url);
  const document = JSON.parse(readFileSync(schemas, 'utf8')) as Document;
  writeFileSync(new URL('schema.ts', import.meta.url), generateTypes(document));
}
