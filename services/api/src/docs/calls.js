/* The calls of the documentation as requests and as curl commands: all that needs no page. */

/** The header that holds the token of a refresh. */
const REFRESH = 'Authorization-Refresh';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * @param resolve follows a reference of the document
 * @returns every call of an OpenAPI document
 */
export function callsOf(document, resolve) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) => {
      const operation = methods[method];
      const [bodyType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [null, null];
      return {
        path,
        method,
        operation,
        group: operation.tags[0],
        parameters: (operation.parameters ?? []).map(resolve),
        bodyType,
        body,
        needsToken: (operation.security ?? []).length > 0,
        words: [path, method, operation.operationId, operation.summary, operation.description ?? '']
          .join(' ')
          .toLowerCase(),
      };
    }),
  );
}

export function exampleOf(parameter) {
  const { schema = {}, example } = parameter;
  return String(example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? '');
}

/**
 * What a call is made with before anyone types: parameters that it can't do without, and those that can have only one
 * value, such as the login's `jwt=1`.
 */
export function startingValues(call) {
  const isGiven = ({ required, schema }) => required || schema?.const !== undefined;
  return {
    parameters: Object.fromEntries(
      call.parameters.map((parameter) => [parameter.name, isGiven(parameter) ? exampleOf(parameter) : '']),
    ),
    body: call.body ? written(call.body.example ?? {}) : null,
  };
}

/**
 * @param base address of the service, with a slash at its end
 * @returns method, address and headers of a call with these values
 */
export function requestOf(call, values, base) {
  let path = call.path.slice(1);
  const query = new URLSearchParams();
  const headers = {};
  for (const { name, in: place } of call.parameters) {
    const value = values.parameters[name];
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value).replaceAll('%3A', ':'));
    else if (value !== '' && place === 'query') query.set(name, value);
    else if (value !== '' && place === 'header') headers[name] = value;
  }
  if (values.body !== null) headers['Content-Type'] = call.bodyType;
  const url = new URL(path, base);
  url.search = query.toString();
  return { method: call.method.toUpperCase(), url: url.href, headers, body: values.body };
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** @returns the call as a command for a shell; `$TOKEN` is what the login answered */
export function curlOf(call, values, base) {
  const { method, url, headers, body } = requestOf(call, values, base);
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`];
  // The token itself is never shown: a screen is easily seen.
  if (call.needsToken) parts.push('-H "Authorization: JWT $TOKEN"');
  // What is refreshed is the token as well.
  if (call.parameters.some(({ name }) => name === REFRESH) && !(REFRESH in headers))
    parts.push(`-H "${REFRESH}: JWT $TOKEN"`);
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== null) parts.push(`--data-binary ${quoted(compact(body))}`);
  return parts.join(' \\\n  ');
}

function compact(body) {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

export function written(value) {
  return typeof value === 'string' ? value : shortened(JSON.stringify(value, null, 2));
}

/** Lists of bare numbers stay in one line: coordinates are read in pairs. */
function shortened(json) {
  return json.replaceAll(
    /\[\s+(-?[\d.e+-]+(?:,\s+-?[\d.e+-]+)*)\s+\]/g,
    (_, numbers) => `[${numbers.replaceAll(/\s+/g, ' ')}]`,
  );
}
