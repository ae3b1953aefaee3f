import { writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { DESCRIBED } from './routes.ts';

/** Writes `schemas/openapi.json` anew: `node services/api/src/write-openapi.ts`. */
const file = new URL('../../../schemas/openapi.json', import.meta.url);
await writeFile(file, `${JSON.stringify(withSharedComponents(openApiDocument(DESCRIBED)), null, 2)}\n`);
