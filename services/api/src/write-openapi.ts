import { readFile, writeFile } from 'node:fs/promises';
import { withEvents } from './live-document.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { DESCRIBED } from './routes.ts';

/** `npm run openapi` writes `schemas/openapi.json` anew, and events in `schemas/asyncapi.json`. */
const document = withSharedComponents(openApiDocument(DESCRIBED));
await writeFile(fileOf('openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
const live = JSON.parse(await readFile(fileOf('asyncapi.json'), 'utf8'));
// The formatter puts it into lines: what is on one already stays there.
await writeFile(fileOf('asyncapi.json'), JSON.stringify(withEvents(live, document)));

function fileOf(name: string): URL {
  return new URL(`../../../schemas/${name}`, import.meta.url);
}
