import { readFileSync, writeFileSync } from 'node:fs';
import { TOPICS_DOCUMENT, topicsDocument } from './topics-document.ts';

/** `npm run openapi` writes `schemas/topics.asyncapi.json` anew. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
writeFileSync(TOPICS_DOCUMENT, topicsDocument(version));
