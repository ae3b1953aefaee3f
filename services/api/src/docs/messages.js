/* Shows a description in AsyncAPI 3: of the live API, or of the topics of Kafka. Texts are never put in as markup. */

const DOCUMENTS = { live: '../asyncapi.json', topics: '../topics.asyncapi.json' };
const MAX_DEPTH = 6;
const shown = new URLSearchParams(location.search).get('document') === 'topics' ? 'topics' : 'live';

/** An element with children: elements and texts. */
function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** Texts with `code` in them. */
function inline(text = '') {
  return text.split('`').map((part, nth) => (nth % 2 === 0 ? part : element('code', part)));
}

const paragraphs = (text = '') => text.split('\n\n').map((part) => element('p', ...inline(part)));

/** What a reference stands for; anything else as it is. */
function resolve(root, value) {
  if (value?.$ref === undefined) return value;
  const at = value.$ref
    .slice(2)
    .split('/')
    .reduce((found, key) => found?.[key], root);
  return resolve(root, at);
}

/** A JSON schema as rows: path, type, description, of which parts and whether needed. */
function rowsOfJson(root, schema, path = '', isNeeded = false, depth = 0) {
  const {
    type,
    enum: values,
    const: constant,
    format,
    oneOf,
    anyOf,
    allOf,
    items,
    properties,
    ...rest
  } = resolve(root, schema) ?? {};
  const choices = oneOf ?? anyOf;
  const names = [type ?? []].flat();
  const kinds =
    values?.map((value) => JSON.stringify(value)) ?? (constant === undefined ? names : [JSON.stringify(constant)]);
  const kind = [kinds.join(' | '), format && `(${format})`].filter(Boolean).join(' ');
  const notes = [rest.description, rest.default !== undefined && `Default: \`${JSON.stringify(rest.default)}\`.`];
  const rows = path === '' ? [] : [[path, isNeeded ? kind : `${kind}?`, notes.filter(Boolean).join(' ')]];
  if (depth >= MAX_DEPTH) return rows;
  const below = (part, name, needed) => rowsOfJson(root, part, name, needed, depth + 1);
  for (const [name, part] of Object.entries(properties ?? {}))
    rows.push(...below(part, path === '' ? name : `${path}.${name}`, rest.required?.includes(name)));
  if (items !== undefined) rows.push(...below(items, `${path}[]`, true));
  for (const part of allOf ?? []) rows.push(...below(part, path, isNeeded).filter(([name]) => name !== path));
  for (const part of choices ?? []) rows.push(...below(part, path, isNeeded));
  return rows;
}

const nameOfAvro = (type) => {
  if (Array.isArray(type)) return type.map(nameOfAvro).join(' | ');
  if (typeof type === 'string') return type;
  if (type.type === 'array') return `${nameOfAvro(type.items)}[]`;
  if (type.type === 'map') return `map of ${nameOfAvro(type.values)}`;
  if (type.symbols !== undefined) return type.symbols.join(' | ');
  if (typeof type.type === 'object') return nameOfAvro(type.type);
  return [type.name ?? type.type, type.logicalType && `(${type.logicalType})`].filter(Boolean).join(' ');
};

/** A schema of Avro as the same rows. */
function rowsOfAvro(schema, path = '') {
  if (Array.isArray(schema)) return schema.flatMap((part) => rowsOfAvro(part, path));
  if (typeof schema !== 'object') return [];
  const inner = schema.items ?? schema.values;
  if (inner !== undefined) return rowsOfAvro(inner, `${path}[]`);
  return (schema.fields ?? []).flatMap((field) => {
    const at = path === '' ? field.name : `${path}.${field.name}`;
    return [[at, nameOfAvro(field.type), field.doc ?? ''], ...rowsOfAvro(field.type, at)];
  });
}

function table(rows) {
  const body = rows.map(([name, type, description]) =>
    element(
      'tr',
      element('td', element('code', name)),
      element('td', element('code', type)),
      element('td', ...inline(description)),
    ),
  );
  const head = element('tr', ...['field', 'type', 'meaning'].map((text) => element('th', text)));
  const scroll = element('div', element('table', element('thead', head), element('tbody', ...body)));
  scroll.className = 'scroll';
  // It scrolls by the keyboard as well.
  Object.assign(scroll, { tabIndex: 0, role: 'region', ariaLabel: 'Fields' });
  return scroll;
}

function showMessage(root, name, reference) {
  const { summary = '', description = '', payload, bindings } = resolve(root, reference);
  const isAvro = payload?.schemaFormat !== undefined;
  const rows = payload === undefined ? [] : isAvro ? rowsOfAvro(payload.schema) : rowsOfJson(root, payload);
  const key = bindings?.kafka?.key?.description;
  const details = element(
    'details',
    element('summary', element('code', name), ' ', ...inline(summary)),
    ...paragraphs(description),
    ...(key === undefined ? [] : [element('p', 'Key: ', ...inline(key))]),
    ...(rows.length > 0 ? [table(rows)] : []),
  );
  details.id = name;
  return details;
}

/** What each side of a channel sends; the description speaks for the service. */
const TITLES = { send: 'What the service sends', receive: 'What clients send' };

function show(root) {
  const main = document.querySelector('main');
  main.append(element('h1', root.info.title), ...paragraphs(root.info.description));
  const source = element('a', 'AsyncAPI 3.0');
  source.href = DOCUMENTS[shown];
  main.append(element('p', 'For programs: ', source));
  for (const [, channel] of Object.entries(root.channels)) {
    const policy = channel.bindings?.kafka?.topicConfiguration?.['cleanup.policy'];
    main.append(element('h2', element('code', channel.address)), ...paragraphs(channel.description));
    if (policy !== undefined)
      main.append(
        element(
          'p',
          policy.includes('compact') ? 'Kept for ever: the newest of each key.' : 'Forgotten after its retention.',
        ),
      );
    for (const { action, channel: of, messages } of Object.values(root.operations)) {
      if (resolve(root, of) !== channel) continue;
      const listed = messages ?? Object.keys(channel.messages).map((name) => ({ $ref: channel.messages[name].$ref }));
      if (shown === 'live') main.append(element('h3', TITLES[action]));
      for (const reference of listed) main.append(showMessage(root, reference.$ref.split('/').at(-1), reference));
    }
  }
}

for (const link of document.querySelectorAll('nav a'))
  if (new URL(link.href).search === `?document=${shown}`) link.setAttribute('aria-current', 'page');
fetch(DOCUMENTS[shown])
  .then((answer) => answer.json())
  .then((root) => {
    show(root);
    // The part that a link names is there only now.
    const named = document.getElementById(location.hash.slice(1));
    if (named instanceof HTMLDetailsElement) named.open = true;
    named?.scrollIntoView();
  });
