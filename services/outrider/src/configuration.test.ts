import { readFileSync } from 'node:fs';
import { PORT_VARIABLES } from '@outrider/protocols';
import { KNOWN_VARIABLES, misspeltVariables, serviceVariables } from '@outrider/runtime';
import { expect, test } from 'vitest';
import { variables } from './config.ts';
import { CONFIGURATION_PAGE, configurationPage } from './configuration-page.ts';

test('the runtime knows every setting of every service by name, except the ports of protocols', () => {
  const names = new Set([...Object.keys(variables), ...Object.keys(serviceVariables)]);
  expect(KNOWN_VARIABLES).toEqual([...names].filter((name) => !PORT_VARIABLES.includes(name)).toSorted());
  // A service that does not read them takes none of them for a misspelt setting of its own.
  const environment = Object.fromEntries(PORT_VARIABLES.map((name) => [name, '5000']));
  expect(misspeltVariables([], environment)).toEqual({ errors: [], warnings: [] });
});

test('docs/configuration.md is that of the settings in the code; `npm run configuration` writes it', () => {
  expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(configurationPage());
});
