import { readFileSync, writeFileSync } from 'node:fs';
import { EVENT_SCHEMA, eventSchema } from './avro/event-schema.ts';
import { TOPICS_DOCUMENT, topicsDocument } from './topics-document.ts';

/** `npm run openapi`: regenerates `schemas/event.avsc` and `schemas/topics.asyncapi.json`. */
writeFileSync(EVENT_SCHEMA, eventSchema());
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
writeFileSync(TOPICS_DOCUMENT, topicsDocument(version));
