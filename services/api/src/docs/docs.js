/*
 * The documentation: everything on this page comes from the OpenAPI document of the service that serves it. Text is put
 * into the page as text, never as markup.
 */

import { callsOf, curlOf, exampleOf, requestOf, startingValues, written } from './calls.js';

/** Deeper than any schema that a person would read. */
const MAX_DEPTH = 8;
const MAX_SHOWN_CHARACTERS = 200_000;

const main = document.getElementById('main');
const nav = document.getElementById('groups');
const search = document.getElementById('search');
const accountButton = document.getElementById('account');
const loginDialog = document.getElementById('login');
const loginForm = document.getElementById('login-form');
const loginError = document.getElementById('login-error');
const base = new URL('..', location.href.split('#', 1)[0]);

/** The token of whoever is logged in; only ever in memory. */
let session = null;
let api = null;
let calls = [];

/** An element; attributes by their name, `on…` as listeners, children as nodes or text; what is null is left out. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

/** Text with `code` and links to what is written in angle brackets or after http. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`') && part.length > 2) return h('code', {}, part.slice(1, -1));
    if (part.startsWith('**') && part.length > 4) return h('strong', {}, part.slice(2, -2));
    return part;
  });
}

/** The little of Markdown that the document uses: headings, lists, commands, paragraphs. */
function prose(text) {
  return text.split(/\n{2,}/).map((block) => {
    if (block.startsWith('```'))
      // Commands are written for this service, wherever it is.
      return code(block.split('\n').slice(1, -1).join('\n').replaceAll('http://localhost:8080/', base.href), {
        wrapped: true,
        label: 'Copy the commands',
      });
    if (block.startsWith('## ')) return h('h2', {}, inline(block.slice(3)));
    if (block.startsWith('- '))
      return h(
        'ul',
        {},
        block.split(/\n(?=- )/).map((item) => h('li', {}, inline(item.slice(2)))),
      );
    return h('p', {}, inline(block));
  });
}

function follow(reference) {
  return reference
    .slice(2)
    .split('/')
    .reduce((value, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], api);
}

/** A schema, or whatever else the document refers to, past its reference. */
function resolve(thing) {
  return thing?.$ref ? { ...follow(thing.$ref), refName: thing.$ref.split('/').at(-1) } : (thing ?? {});
}

/* Schemas */

function isNull(schema) {
  return schema.type === 'null' || schema.const === null;
}

/** What kinds a schema allows, without null; and whether null is one of them. */
function alternatives(schema) {
  const list = schema.anyOf ?? schema.oneOf;
  if (list) {
    const variants = list.map(resolve);
    return { variants: variants.filter((each) => !isNull(each)), nullable: variants.some(isNull) };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null');
    return { variants: types.map((type) => ({ ...schema, type })), nullable: types.length < schema.type.length };
  }
  return { variants: [schema], nullable: false };
}

function typeName(given) {
  const schema = resolve(given);
  const { variants, nullable } = alternatives(schema);
  const names = variants.map((variant) => {
    if (variant.const !== undefined) return JSON.stringify(variant.const);
    if (variant.enum) return variant.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (variant.prefixItems) return `[${variant.prefixItems.map(typeName).join(', ')}]`;
    if (variant.type === 'array') return variant.items ? `list of ${typeName(variant.items)}` : 'list';
    if (variant.refName) return variant.refName;
    if (variant.format) return `${variant.type} (${variant.format})`;
    return variant.type ?? 'any';
  });
  return [...new Set(nullable ? [...names, 'null'] : names)].join(' or ');
}

/** The bounds that a value must keep, in words. */
function bounds(schema) {
  const of = { ...schema, ...alternatives(schema).variants[0] };
  const said = [];
  if (of.minimum !== undefined) said.push(`at least ${of.minimum}`);
  if (of.maximum !== undefined && of.maximum !== Number.MAX_SAFE_INTEGER) said.push(`at most ${of.maximum}`);
  if (of.exclusiveMinimum !== undefined) said.push(`above ${of.exclusiveMinimum}`);
  if (of.minLength > 1) said.push(`${of.minLength} or more characters`);
  if (of.maxLength) said.push(`up to ${of.maxLength} characters`);
  if (of.minItems) said.push(`${of.minItems} or more`);
  if (of.maxItems) said.push(`up to ${of.maxItems} of them`);
  if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
  return said.join(', ');
}

/** The fields of a schema as list items; empty where it has none. */
function fieldsOf(given, depth, seen, marks) {
  const schema = resolve(given);
  if (depth > MAX_DEPTH || (schema.refName && seen.includes(schema.refName))) return [];
  const inside = schema.refName ? [...seen, schema.refName] : seen;
  const { variants } = alternatives(schema);
  const several = variants.filter((variant) => variant.properties || variant.items || variant.prefixItems).length > 1;
  return variants.flatMap((variant) => {
    const items = directFields(variant, depth, inside, marks);
    if (!several || items.length === 0) return items;
    const title = variant.properties?.type ? typeName(variant.properties.type) : typeName(variant);
    return [h('li', {}, h('details', {}, h('summary', { class: 'folder' }, `as ${title}`), h('ul', {}, items)))];
  });
}

function directFields(schema, depth, seen, marks) {
  if (schema.type === 'array' && schema.items) return fieldsOf(schema.items, depth + 1, seen, marks);
  if (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length > 0)
    return [field('any name', schema.additionalProperties, '', depth, seen, marks)];
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).map(([name, value]) =>
    field(name, value, required.includes(name) ? marks.required : marks.optional, depth, seen, marks),
  );
}

function field(name, given, mark, depth, seen, marks) {
  const schema = resolve(given);
  const inner = fieldsOf(given, depth + 1, seen, marks);
  const said = [schema.description, bounds(schema)].filter(Boolean);
  const head = [
    h('span', { class: 'name' }, name),
    ' ',
    h('span', { class: 'type' }, typeName(given)),
    mark ? h('span', { class: mark }, ` ${mark}`) : null,
  ];
  const text = said.length > 0 ? h('div', { class: 'said' }, inline(said.join(' · '))) : null;
  if (inner.length === 0) return h('li', {}, head, text);
  return h(
    'li',
    {},
    h('details', { open: depth < 2 }, h('summary', { class: 'folder' }, head), text, h('ul', {}, inner)),
  );
}

/** Of what is sent, it matters what must be there; of what comes, what may be missing. */
const SENT = { required: 'required', optional: '' };
const ANSWERED = { required: '', optional: 'optional' };

function tree(schema, marks) {
  const fields = fieldsOf(schema, 0, [], marks);
  return fields.length > 0
    ? h('ul', { class: 'tree' }, fields)
    : h(
        'p',
        { class: 'quiet' },
        typeName(schema),
        resolve(schema).description ? ` · ${resolve(schema).description}` : '',
      );
}

/* Code */

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers keep the clipboard from pages that did not come over TLS; the old way still works there.
    const area = h('textarea', { class: 'hidden' });
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
}

function code(text, { wrapped = false, label = 'Copy' } = {}) {
  const pre = h('pre', { tabindex: '0' }, h('code', {}, text));
  const button = h('button', { class: 'button small', type: 'button', 'aria-label': label }, 'Copy');
  button.addEventListener('click', () => copy(pre.textContent, button));
  return h('div', { class: wrapped ? 'code wrapped' : 'code' }, pre, button);
}

/* Calls */

function callElement(call, isOpen) {
  const { operation, method, path, group } = call;
  const inside = h('div', { class: 'inside' });
  const element = h(
    'details',
    { class: 'call', id: operation.operationId, open: isOpen },
    h(
      'summary',
      {},
      h('span', { class: `method ${method}` }, method),
      h('code', { class: 'path' }, path),
      h('span', { class: 'what' }, operation.summary),
    ),
    inside,
  );
  const fill = () => {
    if (element.open && inside.childElementCount === 0) inside.append(...callDetails(call));
  };
  element.addEventListener('toggle', () => {
    fill();
    if (element.open) history.replaceState(null, '', `#/${group}/${operation.operationId}`);
  });
  fill();
  return element;
}

function callDetails(call) {
  const { operation, parameters } = call;
  const values = startingValues(call);
  const curl = code(curlOf(call, values, base), { wrapped: true, label: 'Copy the curl command' });
  const showCurl = () => {
    curl.querySelector('code').textContent = curlOf(call, values, base);
  };
  return [
    operation.description ? h('div', { class: 'prose' }, prose(operation.description)) : null,
    call.needsToken ? null : h('p', { class: 'quiet' }, 'Needs no token.'),
    parameters.length > 0 ? [h('h4', {}, 'Parameters'), parameterTable(parameters)] : null,
    call.body
      ? [
          h('h4', {}, 'Body ', h('code', { class: 'media' }, call.bodyType)),
          h(
            'div',
            { class: 'twin' },
            tree(call.body.schema, SENT),
            code(written(call.body.example ?? {}), { label: 'Copy the body' }),
          ),
        ]
      : null,
    h('h4', {}, 'Answers'),
    answers(operation),
    h('h4', {}, 'As a command'),
    curl,
    trial(call, values, showCurl),
  ]
    .flat()
    .filter(Boolean);
}

function parameterTable(parameters) {
  return h(
    'table',
    { class: 'parameters' },
    h(
      'tbody',
      {},
      parameters.map((parameter) => {
        const said = [parameter.description, bounds(parameter.schema ?? {})].filter(Boolean).join(' · ');
        const example = exampleOf(parameter);
        return h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            h('span', { class: 'name' }, parameter.name),
            parameter.required ? h('span', { class: 'required' }, ' required') : null,
            h('div', { class: 'type' }, `${parameter.in} · ${typeName(parameter.schema)}`),
          ),
          h(
            'td',
            {},
            inline(said),
            said && example ? h('br') : null,
            example ? ['Example: ', h('code', {}, example)] : null,
          ),
        );
      }),
    ),
  );
}

function answers(operation) {
  return h(
    'div',
    {},
    Object.entries(operation.responses).map(([status, given]) => {
      const response = resolve(given);
      const good = status < '400';
      const [type, media] = Object.entries(response.content ?? {})[0] ?? [null, null];
      const examples = Object.values(media?.examples ?? {}).map(resolve);
      const headers = Object.entries(response.headers ?? {});
      const summary = h(
        'summary',
        { class: 'answer-head' },
        h('span', { class: `status ${good ? 'good' : 'bad'}` }, status),
        h('span', {}, inline(response.description)),
      );
      if (!media && headers.length === 0)
        return h(
          'div',
          { class: 'answer' },
          h(
            'p',
            {},
            [...summary.childNodes].flatMap((node) => [node, ' ']),
          ),
        );
      return h(
        'details',
        { class: 'answer', open: good },
        summary,
        h(
          'div',
          { class: 'answer-inside' },
          headers.map(([name, { description }]) =>
            h(
              'p',
              { class: 'note' },
              h('span', { class: 'name' }, name),
              ' ',
              h('span', { class: 'quiet' }, inline(description ?? '')),
            ),
          ),
          good && media
            ? h(
                'div',
                { class: 'twin' },
                tree(media.schema, ANSWERED),
                media.example === undefined
                  ? null
                  : code(written(media.example), { label: `Copy the example of ${type}` }),
              )
            : [...(media?.example === undefined ? [] : [media.example]), ...examples.map(({ value }) => value)].map(
                (value) => code(written(value), { label: `Copy the example of ${status}` }),
              ),
        ),
      );
    }),
  );
}

/* Trying */

function trial(call, values, changed) {
  const outcome = h('div', { class: 'outcome', 'aria-live': 'polite' });
  const fields = call.parameters.map((parameter) => {
    const id = `try-${call.operation.operationId}-${parameter.name}`;
    const input = h('input', {
      id,
      value: values.parameters[parameter.name],
      placeholder: exampleOf(parameter),
      spellcheck: 'false',
      autocomplete: 'off',
      required: parameter.required,
      oninput: (event) => {
        values.parameters[parameter.name] = event.target.value;
        changed();
      },
    });
    return h(
      'div',
      { class: 'field' },
      h(
        'label',
        { for: id },
        h('span', { class: 'name' }, parameter.name),
        parameter.required ? h('span', { class: 'required' }, ' required') : null,
      ),
      input,
    );
  });
  let area = null;
  if (values.body !== null) {
    const id = `try-${call.operation.operationId}-body`;
    area = h('textarea', {
      id,
      rows: Math.min(16, values.body.split('\n').length + 1),
      spellcheck: 'false',
      oninput: (event) => {
        values.body = event.target.value;
        changed();
      },
    });
    area.value = values.body;
    area = [h('label', { class: 'body-label', for: id }, 'Body'), area];
  }
  const send = h('button', { class: 'button main', type: 'submit' }, 'Send');
  const isChange = call.method !== 'get';
  return h(
    'form',
    {
      class: 'trial',
      onsubmit: async (event) => {
        event.preventDefault();
        if (call.needsToken && session === null && !(await askToLogIn())) return;
        send.disabled = true;
        outcome.replaceChildren(h('p', { class: 'quiet' }, 'Waiting …'));
        outcome.replaceChildren(...(await outcomeOf(call, values)));
        send.disabled = false;
      },
    },
    h('h4', {}, 'Try it'),
    fields.length > 0 ? h('div', { class: 'fields' }, fields) : null,
    area,
    h('div', { class: 'actions' }, send, isChange ? h('span', { class: 'quiet' }, 'This changes real data.') : null),
    outcome,
  );
}

async function outcomeOf(call, values) {
  const { method, url, headers, body } = requestOf(call, values, base);
  // What the document describes is at this service: a token goes nowhere else, whatever is typed.
  if (new URL(url).origin !== location.origin)
    return [h('p', { class: 'failure' }, 'That is another place than this service.')];
  const started = performance.now();
  const attempt = () =>
    fetch(url, {
      method,
      headers: { ...headers, ...(call.needsToken && session ? { Authorization: `JWT ${session.jwt}` } : {}) },
      body,
      credentials: 'omit',
      redirect: 'error',
    });
  try {
    let response = await attempt();
    if (response.status === 401 && call.needsToken && (await refreshed())) response = await attempt();
    const text = await response.text();
    const took = Math.round(performance.now() - started);
    let shown = text;
    if (/json/.test(response.headers.get('content-type') ?? '')) {
      try {
        shown = written(JSON.parse(text));
      } catch {
        // Shown as it came.
      }
    }
    const told = ['content-type', 'etag', 'location', 'ratelimit', 'retry-after', 'www-authenticate']
      .filter((name) => response.headers.has(name))
      .map((name) => `${name}: ${response.headers.get(name)}`);
    return [
      h(
        'p',
        {},
        h('strong', { class: `status ${response.ok ? 'good' : 'bad'}` }, `${response.status}`),
        h('span', { class: 'quiet' }, ` in ${took} ms`),
      ),
      told.length > 0 ? h('pre', { tabindex: '0' }, told.join('\n')) : '',
      h('p', {}),
      shown === ''
        ? h('p', { class: 'quiet' }, 'No body.')
        : code(
            shown.length > MAX_SHOWN_CHARACTERS
              ? `${shown.slice(0, MAX_SHOWN_CHARACTERS)}\n… (${shown.length} characters in all)`
              : shown,
            { label: 'Copy the answer' },
          ),
    ];
  } catch (error) {
    return [h('p', { class: 'failure' }, `No answer: ${error.message}`)];
  }
}

/* Logging in */

let waiting = null;

/** @returns whether somebody is logged in once the form is closed */
function askToLogIn() {
  loginError.textContent = '';
  loginDialog.showModal();
  return new Promise((resolve) => {
    waiting = resolve;
  });
}

loginDialog.addEventListener('close', () => {
  loginForm.elements.password.value = '';
  waiting?.(session !== null);
  waiting = null;
});
document.getElementById('login-cancel').addEventListener('click', () => loginDialog.close());

loginForm.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { login, password } = loginForm.elements;
  loginError.textContent = '';
  try {
    const response = await fetch(new URL('auth/login?jwt=1', base), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ login: login.value, password: password.value }),
      credentials: 'omit',
      redirect: 'error',
    });
    const answer = await response.json();
    if (!response.ok) {
      loginError.textContent = answer.detail ?? answer.title;
      return;
    }
    session = { login: login.value, jwt: answer.jwt };
    showAccount();
    loginDialog.close();
  } catch (error) {
    loginError.textContent = `No answer: ${error.message}`;
  }
});

/** Takes a new token for one that has expired. */
async function refreshed() {
  if (session === null) return false;
  const response = await fetch(new URL('auth/refresh', base), {
    method: 'POST',
    headers: { 'Authorization-Refresh': `JWT ${session.jwt}` },
    credentials: 'omit',
    redirect: 'error',
  });
  if (response.ok) session = { ...session, jwt: (await response.json()).jwt };
  else session = null;
  showAccount();
  return response.ok;
}

accountButton.addEventListener('click', async () => {
  if (session === null) {
    await askToLogIn();
    return;
  }
  const { jwt } = session;
  session = null;
  showAccount();
  await fetch(new URL('auth/logout', base), {
    method: 'POST',
    headers: { Authorization: `JWT ${jwt}` },
    credentials: 'omit',
  }).catch(() => {
    // Forgotten here in any case; the session then ends by itself.
  });
});

function showAccount() {
  accountButton.textContent = session === null ? 'Log in' : `Log out ${session.login}`;
}

/* The page */

function showNav(current) {
  const link = (href, name, count) =>
    h(
      'a',
      { href, 'aria-current': current === name ? 'page' : null },
      name,
      count === null ? null : h('span', { class: 'count' }, String(count)),
    );
  nav.replaceChildren(
    link('#/', 'Overview', null),
    ...api.tags.map(({ name }) => link(`#/${name}/`, name, calls.filter((call) => call.group === name).length)),
  );
  nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function show() {
  const words = search.value.trim().toLowerCase();
  if (words !== '') {
    showFound(words);
    return;
  }
  const [, groupName = '', operationId = ''] = decodeURIComponent(location.hash).split('/');
  const group = api.tags.find(({ name }) => name.toLowerCase() === groupName.toLowerCase());
  if (group) showGroup(group, operationId);
  else showOverview();
}

function showOverview() {
  showNav('Overview');
  document.title = 'Outrider API';
  main.replaceChildren(
    h(
      'header',
      {},
      h('h1', {}, `${api.info.title} API`),
      h(
        'p',
        { class: 'quiet' },
        `Version ${api.info.version} · OpenAPI ${api.openapi} · `,
        h('a', { href: new URL('openapi.json', base).href }, 'openapi.json'),
        ' · live API: ',
        h('a', { href: new URL('asyncapi.json', base).href }, 'asyncapi.json'),
      ),
    ),
    h('div', { class: 'prose' }, prose(api.info.description)),
  );
}

function showGroup({ name, description }, operationId) {
  showNav(name);
  document.title = `${name} · Outrider API`;
  const own = calls.filter((call) => call.group === name);
  main.replaceChildren(
    h('header', {}, h('h1', {}, name), h('p', { class: 'quiet' }, inline(description))),
    ...(own.length > 0
      ? own.map((call) => callElement(call, call.operation.operationId === operationId))
      : [h('p', { class: 'empty' }, 'This group has no calls yet.')]),
  );
  const target = operationId && document.getElementById(operationId);
  if (target) target.scrollIntoView();
  else scrollTo(0, 0);
}

function showFound(words) {
  showNav(null);
  const wanted = words.split(/\s+/);
  const found = calls.filter((call) => wanted.every((word) => call.words.includes(word)));
  main.replaceChildren(
    h(
      'header',
      {},
      h('h1', {}, 'Search'),
      h('p', { class: 'quiet', role: 'status' }, found.length === 1 ? '1 call' : `${found.length} calls`),
    ),
    ...(found.length > 0
      ? found.map((call) => callElement(call, false))
      : [h('p', { class: 'empty' }, 'No call has all of these words.')]),
  );
}

function leaveSearch() {
  if (search.value === '') return;
  search.value = '';
}

addEventListener('hashchange', () => {
  if (location.hash === '#main') return;
  leaveSearch();
  show();
});
nav.addEventListener('click', () => {
  // The group that is shown already changes no hash.
  leaveSearch();
  queueMicrotask(show);
});
search.addEventListener('input', show);
addEventListener('keydown', (event) => {
  const typing = event.target instanceof Element && event.target.closest('input, textarea, select, dialog');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  } else if (event.key === 'Escape' && event.target === search) {
    leaveSearch();
    show();
  }
});

try {
  const response = await fetch(new URL('openapi.json', base), { credentials: 'omit' });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  api = await response.json();
  calls = callsOf(api, resolve);
  accountButton.disabled = false;
  show();
} catch (error) {
  main.replaceChildren(
    h('p', { class: 'failure' }, `The description could not be read: ${error.message}`),
    h('p', {}, h('button', { class: 'button', type: 'button', onclick: () => location.reload() }, 'Try again')),
  );
}
