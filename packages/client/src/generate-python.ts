import { readFileSync, writeFileSync } from 'node:fs';
import { type Body, type Document, METHODS, type Operation, type Parameter, resolve, type Schema } from './generate.ts';

/*
 * Generates the types and operations of the Python client: a TypedDict for each object of the document, and a method
 * for each operation, named after its `operationId`.
 */

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
const HEAD = `# Generated from schemas/openapi.json by \`npm run openapi\`. Do not edit.
from __future__ import annotations
`;

/** Writes types of a document, including objects that have no name of their own. */
class Types {
  readonly lines: string[] = [];
  readonly #document: Document;
  readonly #taken = new Set<string>();

  constructor(document: Document) {
    this.#document = document;
    for (const name of Object.keys(document.components.schemas)) this.#taken.add(name);
  }

  /** Declares a type of the document under its name. */
  declare(name: string, schema: Schema): void {
    if (schema.properties !== undefined) this.#object(name, schema);
    else this.lines.push(`${name}: TypeAlias = ${JSON.stringify(this.of(schema, name))}`);
  }

  /** @param hint name for an object without a name */
  of(schema: Schema, hint: string): string {
    if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'Any';
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const choice = schema.anyOf ?? schema.oneOf;
    if (choice) return union(choice.map((one, nth) => this.of(one, choice.length > 2 ? `${hint}${nth + 1}` : hint)));
    if (schema.allOf) throw new Error(`${hint}: allOf is not supported`);
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => this.of({ ...schema, type }, hint)));
    return this.#plain(schema, hint);
  }

  #plain(schema: Schema, hint: string): string {
    switch (schema.type) {
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'array': {
        const items = [...(schema.prefixItems ?? []), ...(typeof schema.items === 'object' ? [schema.items] : [])];
        return `list[${items.length === 0 ? 'Any' : union(items.map((item) => this.of(item, `${hint}Item`)))}]`;
      }
      default:
        if (schema.properties !== undefined) return this.#nested(schema, hint);
        return typeof schema.additionalProperties === 'object'
          ? `dict[str, ${this.of(schema.additionalProperties, `${hint}Value`)}]`
          : 'dict[str, Any]';
    }
  }

  #nested(schema: Schema, hint: string): string {
    let name = hint;
    for (let nth = 2; this.#taken.has(name); nth++) name = `${hint}${nth}`;
    this.#taken.add(name);
    this.#object(name, schema);
    return name;
  }

  /** Uses the functional form, which allows Python keywords as names, such as `from`. */
  #object(name: string, { properties = {}, required = [], description }: Schema): void {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = this.of(schema, `${name}${capital(field)}`);
      return `    ${JSON.stringify(field)}: ${JSON.stringify(required.includes(field) ? type : `NotRequired[${type}]`)},`;
    });
    this.lines.push(
      ...(description === undefined ? [] : [`# ${description.replaceAll('\n', ' ')}`]),
      fields.length === 0
        ? `${name} = TypedDict(${JSON.stringify(name)}, {})`
        : `${name} = TypedDict(${JSON.stringify(name)}, {\n${fields.join('\n')}\n})`,
    );
  }

  resolve<T>(value: T | { $ref: string }): T {
    return resolve(this.#document, value);
  }
}

/** Generates the modules `_schema` and `_operations` of the Python client. */
export function generatePython(document: Document): { schema: string; operations: string } {
  const types = new Types(document);
  for (const [name, schema] of Object.entries(document.components.schemas)) types.declare(name, schema);
  const methods: string[] = [];
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) methods.push(...methodsOf(types, path, method, operation));
    }
  const schema = [
    HEAD,
    'from typing import Any, Literal, NotRequired, TypeAlias, TypedDict',
    '',
    types.lines.join('\n\n'),
    '',
  ].join('\n');
  const operations = [
    HEAD,
    'from collections.abc import Iterator, Sequence',
    'from typing import Any, Literal',
    '',
    'from ._schema import *',
    'from ._transport import Transport',
    '',
    '',
    'class Operations(Transport):',
    '    """Every operation of the API, as a method named after its operationId."""',
    '',
    methods.join('\n\n'),
    '',
  ].join('\n');
  return { schema, operations };
}

interface Argument {
  /** Name in Python. */
  name: string;
  /** Name in the API. */
  wire: string;
  type: string;
  isRequired: boolean;
}

function methodsOf(types: Types, path: string, method: string, operation: Operation): string[] {
  const { operationId = '' } = operation;
  const Name = capital(operationId);
  const parameters = (operation.parameters ?? []).map((each) => types.resolve<Parameter>(each));
  const from = (place: string): Argument[] =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name: wire, schema, required = false }) => {
        const type = types.of(schema, `${Name}${capital(wire)}`);
        const given = schema.type === 'array' ? `str | Sequence[${type.slice(5, -1)}]` : type;
        return { name: snake(wire), wire, type: given, isRequired: required };
      });
  const [inPath, query, headers] = [from('path'), from('query'), from('header')];
  const body = operation.requestBody && bodyOf(types, types.resolve<Body>(operation.requestBody), `${Name}Body`);
  const result = resultOf(types, operation, `${Name}Result`);
  const named = [...(body ? [body] : []), ...query, ...headers].sort(
    (a, b) => Number(b.isRequired) - Number(a.isRequired),
  );
  const signature = [
    'self',
    ...inPath.map(({ name, type }) => `${name}: ${type}`),
    ...(named.length > 0 ? ['*'] : []),
    ...named.map(({ name, type, isRequired }) => (isRequired ? `${name}: ${type}` : `${name}: ${type} | None = None`)),
  ];
  const dict = (list: Argument[]) => `{${list.map(({ name, wire }) => `${JSON.stringify(wire)}: ${name}`).join(', ')}}`;
  const call = [
    JSON.stringify(method.toUpperCase()),
    JSON.stringify(path),
    ...(inPath.length > 0 ? [`path_values=${dict(inPath)}`] : []),
    ...(query.length > 0 ? [`query=${dict(query)}`] : []),
    ...(headers.length > 0 ? [`headers=${dict(headers)}`] : []),
    ...(body ? ['body=body', `content_type=${JSON.stringify(body.wire)}`] : []),
  ].join(', ');
  const name = snake(operationId);
  const doc = `        """${(operation.summary ?? '').replaceAll('\\', '\\\\')}"""`;
  const plain = [
    `    def ${name}(${signature.join(', ')}) -> ${result.type}:`,
    doc,
    result.type === 'None' ? `        self._call(${call})` : `        return self._call(${call})`,
  ].join('\n');
  const isPaged = result.item !== null && query.some(({ wire }) => wire === 'cursor');
  if (!isPaged) return [plain];
  const others = named.filter(({ wire }) => wire !== 'cursor');
  const each = [
    `    def all_${name.replace(/^list_/, '')}(${[
      'self',
      ...inPath.map(({ name, type }) => `${name}: ${type}`),
      ...(others.length > 0 ? ['*'] : []),
      ...others.map(({ name, type, isRequired }) =>
        isRequired ? `${name}: ${type}` : `${name}: ${type} | None = None`,
      ),
    ].join(', ')}) -> Iterator[${result.item}]:`,
    `        """Every item of \`${name}\`, page after page."""`,
    `        return self._items(${call.replace('"cursor": cursor', '"cursor": None')})`,
  ].join('\n');
  return [plain, each];
}

function bodyOf(types: Types, { content = {}, required }: Body, hint: string): Argument {
  const [mediaType, json] = jsonOf(content) ?? Object.entries(content)[0] ?? ['application/octet-stream', {}];
  const isJson = /[/+]json$/.test(mediaType);
  const type = isJson && json.schema ? types.of(json.schema, hint) : 'str | bytes';
  return { name: 'body', wire: mediaType, type, isRequired: required === true };
}

/** The JSON type, even if other formats can be requested; without JSON, a file. */
function resultOf(types: Types, operation: Operation, hint: string): { type: string; item: string | null } {
  const found = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => types.resolve<Body>(response).content)
    .find((content) => content !== undefined);
  if (found === undefined) return { type: 'None', item: null };
  const [, json] = jsonOf(found) ?? [];
  if (!json?.schema) return { type: 'bytes', item: null };
  const schema = types.resolve<Schema>(json.schema as Schema & { $ref: string });
  const { items, nextCursor } = schema.properties ?? {};
  const item =
    nextCursor !== undefined && typeof items?.items === 'object' ? types.of(items.items, `${hint}ItemsItem`) : null;
  return { type: types.of(json.schema, hint), item };
}

function jsonOf(content: NonNullable<Body['content']>): [string, { schema?: Schema }] | undefined {
  const all = Object.entries(content);
  return all.find(([type]) => type === 'application/json') ?? all.find(([type]) => type.endsWith('+json'));
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function capital(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** Converts a name for Python: `dealerId` to `dealer_id`, `If-Match` to `if_match`, `from` to `from_`. */
export function snake(name: string): string {
  const text = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return KEYWORDS.has(text) ? `${text}_` : text;
}

if (import.meta.main) {
  const document = JSON.parse(readFileSync(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8'));
  const { schema, operations } = generatePython(document as Document);
  const folder = new URL('../../client-python/src/outrider/', import.meta.url);
  writeFileSync(new URL('_schema.py', folder), schema);
  writeFileSync(new URL('_operations.py', folder), operations);
}
