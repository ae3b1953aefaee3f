import { mkdirSync, writeFileSync } from 'node:fs';
import { eventNames, eventNamesFile } from './event-names.ts';
import { LANGUAGES } from './index.ts';

/** Run by `npm run openapi`: writes names and hints of event kinds by language, so a browser loads only its own. */
mkdirSync(new URL('.', eventNamesFile('en')), { recursive: true });
for (const language of LANGUAGES) writeFileSync(eventNamesFile(language), eventNames(language));
