type Json = Record<string, unknown>;

/** Parts of operations that occur at least this often are moved to the document's components. */
const SHARED_FROM = 2;

/**
 * The document with parameters and responses that several operations share moved to its components, and replaced by
 * references. This cuts its length to a third.
 *
 * @param document with each operation written out
 */
export function withSharedComponents(document: Json): Json {
  const parameters = new Shared('parameters', (parameter) => pascal(String(parameter.name)));
  const responses = new Shared('responses', (response) => kindsIn(String(response.description)).map(pascal).join('Or'));
  const operations = Object.values(document.paths as Record<string, Record<string, Json>>).flatMap(
    Object.values,
  ) as Json[];
  for (const operation of operations) {
    for (const parameter of listOf(operation.parameters)) parameters.count(parameter);
    for (const response of Object.values(operation.responses as Record<string, Json>)) responses.count(response);
  }
  const paths = mapValues(document.paths as Record<string, Record<string, Json>>, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      ...(operation.parameters === undefined
        ? {}
        : { parameters: listOf(operation.parameters).map((each) => parameters.refer(each)) }),
      responses: mapValues(operation.responses as Record<string, Json>, (each) => responses.refer(each)),
    })),
  );
  const components = document.components as Json;
  return {
    ...document,
    paths,
    components: { ...components, parameters: parameters.components, responses: responses.components },
  };
}

/** Parts that several operations share, each with its name. */
class Shared {
  readonly #place: string;
  readonly #nameOf: (part: Json) => string;
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly components: Json = {};

  constructor(place: string, nameOf: (part: Json) => string) {
    this.#place = place;
    this.#nameOf = nameOf;
  }

  count(part: Json): void {
    const text = JSON.stringify(part);
    this.#uses.set(text, (this.#uses.get(text) ?? 0) + 1);
  }

  refer(part: Json): Json {
    const text = JSON.stringify(part);
    const wanted = this.#nameOf(part);
    if ((this.#uses.get(text) ?? 0) < SHARED_FROM || wanted === '') return part;
    let name = this.#names.get(text);
    if (name === undefined) {
      name = wanted;
      for (let variant = 2; name in this.components; variant++) name = `${wanted}${variant}`;
      this.#names.set(text, name);
      this.components[name] = part;
    }
    return { $ref: `#/components/${this.#place}/${name}` };
  }
}

/** Kinds of problems that a description names: `No such thing (\`not-found\`).` */
function kindsIn(description: string): string[] {
  return [...description.matchAll(/\(`([a-z-]+)`\)/g)].map(([, kind]) => kind ?? '');
}

function pascal(name: string): string {
  return name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function listOf(parameters: unknown): Json[] {
  return (parameters as Json[] | undefined) ?? [];
}

function mapValues<T, R>(object: Record<string, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
