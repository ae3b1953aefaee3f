import { readFileSync } from 'node:fs';
import { PORT_VARIABLES } from '@outrider/protocols';
import { misspeltVariables } from '@outrider/runtime';
import { expect, test } from 'vitest';
import { CONFIGURATION_PAGE, configurationPage, KNOWN_VARIABLES_FILE, knownVariables } from './configuration-page.ts';

test('the runtime knows every setting of every service by name; `npm run configuration` writes the list', () => {
  expect(readFileSync(KNOWN_VARIABLES_FILE, 'utf8')).toBe(knownVariables());
});

test('a service takes no port of a protocol for a misspelt setting of its own', () => {
  const environment = Object.fromEntries(PORT_VARIABLES.map((name) => [name, '5000']));
  expect(misspeltVariables([], environment)).toEqual({ errors: [], warnings: [] });
});

test('docs/configuration.md is that of the settings in the code; `npm run configuration` writes it', () => {
  expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(configurationPage());
});
