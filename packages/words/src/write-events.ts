import { mkdirSync, writeFileSync } from 'node:fs';
import { eventNames, eventNamesFile } from './event-names.ts';
import { LANGUAGES } from './index.ts';

/** `npm run openapi` writes the names and hints of event kinds by language: a browser loads those of its own alone. */
mkdirSync(new URL('.', eventNamesFile('en')), { recursive: true });
for (const language of LANGUAGES) writeFileSync(eventNamesFile(language), eventNames(language));
