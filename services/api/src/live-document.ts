type Json = Record<string, unknown>;

/**
 * The AsyncAPI document of the live API, with events as the OpenAPI document describes them.
 *
 * @param live the hand-written document: all but the schema of events is kept
 */
export function withEvents(live: Json, openApi: Json): Json {
  const components = live.components as { schemas: Json };
  const { PublishedEvent: published } = (openApi.components as { schemas: Record<string, Json> }).schemas;
  const { type, properties, required } = plain(published) as { type: string; properties: Json; required: string[] };
  const phase = {
    enum: ['begin', 'end', 'removed'],
    description:
      '`removed`: a recalculation found that the event did not happen; the other fields are its former content. Only for subscriptions with `corrections`.',
  };
  const event = { type, required, properties: { ...properties, phase } };
  return { ...live, components: { ...components, schemas: { ...components.schemas, event } } };
}

/**
 * A schema without the parts that only examples and input validation need, with references to the schemas of the live
 * API.
 */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { examples: _, minimum: __, maximum: ___, pattern, ...rest } = schema as Json;
  const kept = pattern === undefined || rest.format === 'date-time' ? rest : { ...rest, pattern };
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [
      name,
      name === '$ref' ? String(value).replace('/Alarm', '/alarm') : plain(value),
    ]),
  );
}
