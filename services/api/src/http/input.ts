import { type InputError, jsonPointer, Problem } from '@outrider/access/problem';
import { decodeText } from '@outrider/reports';
import { z } from 'zod';

/** More would not help, and the response must stay smaller than a hostile request. */
const MAX_ERRORS = 20;
const MAX_NAME_CHARACTERS = 100;

/**
 * Validates a value against its schema.
 *
 * @param part where the value came from, which decides how its errors name a field
 * @throws {Problem} `invalid-request` naming everything that is wrong
 */
export function validate<T extends z.ZodType>(schema: T, value: unknown, part: 'body' | 'parameter'): z.output<T> {
  const result = schema.safeParse(value, { error: messageOf });
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => errorsOf(issue, part)).slice(0, MAX_ERRORS);
  throw new Problem('invalid-request', part === 'body' ? 'The body is not valid.' : 'A parameter is not valid.', {
    errors,
  });
}

function errorsOf(issue: z.core.$ZodIssue, part: 'body' | 'parameter'): InputError[] {
  const place = (path: readonly PropertyKey[]) =>
    part === 'body' ? { pointer: jsonPointer(path) } : { parameter: String(path[0] ?? '') };
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, MAX_ERRORS)
      .map((key) => ({ ...place([...issue.path, shortened(key)]), detail: issue.message }));
  return [{ ...place(issue.path), detail: issue.message }];
}

/** Message for a missing or an unknown field: it lists the fields that the object takes. Undefined for other issues. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'It is missing.';
  if (issue.code !== 'unrecognized_keys') return undefined;
  const { shape = {} } = issue.inst as Partial<z.ZodObject>;
  return `There is no such field. Known fields: ${listed(Object.keys(shape))}.`;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

/**
 * Validates the query of a request against its schema. Unknown names are refused, and each may be given once, except
 * for lists.
 *
 * @param schema null: the call takes no parameters
 * @param url of the request, with or without its origin
 * @throws {Problem} `invalid-request` naming every parameter that is unknown, repeated or not valid
 */
export function readQuery(schema: z.ZodObject | null, url: string): Record<string, unknown> | null {
  const [, search = ''] = /\?([^#]*)/.exec(url) ?? [];
  const known = Object.keys(schema?.shape ?? {});
  const values: Record<string, string | string[]> = {};
  const errors = new Map<string, InputError>();
  for (const [name, value] of search === '' ? [] : new URLSearchParams(search)) {
    const parameter = shortened(name);
    if (!known.includes(name))
      errors.set(name, { parameter, detail: `There is no such parameter. Known parameters: ${listed(known)}.` });
    else if (isList(schema?.shape[name])) values[name] = [...(values[name] ?? []), value];
    else if (name in values) errors.set(name, { parameter, detail: 'It is given more than once.' });
    else values[name] = value;
    if (errors.size === MAX_ERRORS) break;
  }
  if (errors.size > 0)
    throw new Problem('invalid-request', 'A parameter is not valid.', {
      errors: [...errors.values()],
    });
  return schema && validate(schema, values, 'parameter');
}

function isList(parameter: unknown): boolean {
  if (parameter instanceof z.ZodOptional || parameter instanceof z.ZodDefault) return isList(parameter.unwrap());
  return parameter instanceof z.ZodPipe ? isList(parameter.out) : parameter instanceof z.ZodArray;
}

/** Shortens an overlong field name, so that errors need not repeat all of it. */
function shortened(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
}

/**
 * Reads a body to its end.
 *
 * @param read reads the body, and does nothing else
 * @throws {Problem} when the client disconnected or broke off before the end: that is not a failure of the service
 */
export async function wholeBody<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw new Problem('invalid-request', 'The body is incomplete: the client stopped sending before its end.');
  }
}

const JSON_TYPES = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the body of a request as JSON.
 *
 * @throws {Problem} when its content type is another, or it is not valid JSON
 */
export async function readJson(request: Request): Promise<unknown> {
  requireJson(request);
  return parseJson(await wholeBody(() => request.text()));
}

/**
 * Reads the JSON body of a request as bytes, for another thread to parse.
 *
 * @throws {Problem} when its content type is another
 */
export async function readJsonBytes(request: Request): Promise<ArrayBuffer> {
  requireJson(request);
  return wholeBody(() => request.arrayBuffer());
}

/** Reads the body of a request that is a file, whatever its content type. */
export function readBytes(request: Request): Promise<ArrayBuffer> {
  return wholeBody(() => request.arrayBuffer());
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Whether it is the media type of a form. */
export function isForm(contentType: string | undefined): boolean {
  return FORM_TYPE.test(contentType ?? '');
}

/**
 * Reads the body of a request that is a form, or else JSON.
 *
 * @throws {Problem} when a field is repeated, or the content type is another
 */
export async function readFormOrJson(request: Request): Promise<unknown> {
  if (!isForm(request.headers.get('content-type') ?? undefined)) return readJson(request);
  const fields = [...new URLSearchParams(await readText(request, 'application/x-www-form-urlencoded'))];
  const names = fields.map(([name]) => name);
  const repeated = names.find((name, nth) => names.indexOf(name) !== nth);
  if (repeated !== undefined)
    throw new Problem('invalid-request', 'The body is not valid.', {
      errors: [{ pointer: jsonPointer([shortened(repeated)]), detail: 'It is given more than once.' }],
    });
  return Object.fromEntries(fields);
}

function requireJson(request: Request): void {
  if (!JSON_TYPES.test(request.headers.get('content-type') ?? ''))
    throw new Problem('unsupported-media-type', 'Send the body as JSON, with Content-Type: application/json.');
}

/** @throws {Problem} when it is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid-request', 'The body is not valid JSON.', {
      errors: [{ pointer: '', detail: (error as Error).message.slice(0, 200) }],
    });
  }
}

/**
 * Refuses a body with content if the call takes none: a client that sends fields expects them to take effect.
 *
 * @throws {Problem} naming the fields
 */
export async function refuseBody(request: Request): Promise<void> {
  if (request.body === null) return;
  const text = (await wholeBody(() => request.text())).trim();
  if (text === '' || text === '{}') return;
  let fields: string[] = [];
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && !Array.isArray(value)) fields = Object.keys(value ?? {});
  } catch {
    // No JSON: the body as a whole is refused below.
  }
  const pointers =
    fields.length === 0 ? [''] : fields.slice(0, MAX_ERRORS).map((name) => jsonPointer([shortened(name)]));
  throw new Problem('invalid-request', 'The body is not valid.', {
    errors: pointers.map((pointer) => ({ pointer, detail: 'This call takes no body.' })),
  });
}

/** Accepted encodings of text. Spreadsheets call UTF-16 with a byte order mark "Unicode". */
const CHARSET = /^charset="?utf-(?:8|16|16le|16be)"?$/;

/**
 * Reads the body of a request as text.
 *
 * @param type its media type
 * @throws {Problem} when its content type is another, or it is neither UTF-8 nor UTF-16 with a byte order mark
 */
export async function readText(request: Request, type: string): Promise<string> {
  const [given = '', ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (given.trim() !== type || (charset !== undefined && !CHARSET.test(charset)))
    throw new Problem('unsupported-media-type', `Send the body in UTF-8, with Content-Type: ${type}.`);
  const bytes = await wholeBody(() => request.arrayBuffer());
  try {
    return decodeText(bytes);
  } catch {
    throw new Problem('invalid-request', 'The body is not UTF-8.', {
      errors: [{ pointer: '', detail: 'It must be text in UTF-8, or in UTF-16 with a byte order mark.' }],
    });
  }
}

/**
 * The version that `If-Match` requires (RFC 9110, 13.1.1); null if there is no such header, or it allows any version.
 *
 * @returns of a list of versions, the newest; -1 if no version can match
 * @throws {Problem} when the header can't be read
 */
export function versionOfIfMatch(header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => tag.trim());
  if (!tags.every((tag) => /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(tag)))
    throw new Problem('invalid-request', 'A parameter is not valid.', {
      errors: [{ parameter: 'If-Match', detail: 'It must be an ETag in quotes, or *.' }],
    });
  // A weak tag never matches: If-Match compares strongly.
  return Math.max(...tags.map((tag) => Number(/^"(\d{1,15})"$/.exec(tag)?.[1] ?? -1)));
}

/** The ETag of a definition: its version. */
export function etagOf(version: number): string {
  return `"${version}"`;
}
