import { writeFileSync } from 'node:fs';
import { CONFIGURATION_PAGE, configurationPage, KNOWN_VARIABLES_FILE, knownVariables } from './configuration-page.ts';

writeFileSync(CONFIGURATION_PAGE, configurationPage());
writeFileSync(KNOWN_VARIABLES_FILE, knownVariables());
