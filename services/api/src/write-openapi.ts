import { readFile, writeFile } from 'node:fs/promises';
import { withEvents } from './live-document.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { DESCRIBED } from './routes.ts';

/** `npm run openapi` rewrites `schemas/openapi.json`, and the events in `schemas/asyncapi.json`. */
const document = withSharedComponents(openApiDocument(DESCRIBED));
await writeFile(fileOf('openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
const live = JSON.parse(await readFile(fileOf('asyncapi.json'), 'utf8'));
// The formatter breaks lines; what is already on one line stays there.
await writeFile(fileOf('asyncapi.json'), JSON.stringify(withEvents(live, document)));

function fileOf(name: string): URL {
  return new URL(`../../../schemas/${name}`, import.meta.url);
}
