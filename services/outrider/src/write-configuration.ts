import { writeFileSync } from 'node:fs';
import { CONFIGURATION_PAGE, configurationPage } from './configuration-page.ts';

writeFileSync(CONFIGURATION_PAGE, configurationPage());
