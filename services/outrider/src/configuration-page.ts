import { PORT_VARIABLES } from '@outrider/protocols';
import { serviceVariables } from '@outrider/runtime';
import { variables } from './config.ts';

export const CONFIGURATION_PAGE = new URL('../../../docs/configuration.md', import.meta.url);

const HEAD = `# Configuration

Settings are environment variables, and every default works. An unknown name that is close to one of these, such as
\`KAFKA_BROKER\`, stops a service from starting, and the error suggests the right name. If the right one is set as well,
it is only a warning. A port of 0 is any free port. A secret (a password, a token, a key, an address with a password)
may be in a file that is named in its place: \`DATABASE_URL_FILE=/run/secrets/database_url\`. An empty file counts as
unset.

This page is generated from the settings in the code by \`npm run configuration\`.

| variable | default | meaning |
|---|---|---|
`;

/** The text of `docs/configuration.md`. */
export function configurationPage(): string {
  const rows = Object.entries({ ...variables, ...serviceVariables }).map(([name, { fallback, description }]) => {
    const shown = fallback === undefined || fallback === '' || fallback === ',' ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${shown} | ${description} |`;
  });
  return `${HEAD}${rows.join('\n')}\n`;
}

export const KNOWN_VARIABLES_FILE = new URL('../../../packages/runtime/src/known-variables.ts', import.meta.url);

/** The text of the runtime's list of all settings, without the ports of protocols. */
export function knownVariables(): string {
  const names = new Set([...Object.keys(variables), ...Object.keys(serviceVariables)]);
  const listed = [...names].filter((name) => !PORT_VARIABLES.includes(name)).toSorted();
  return `// Generated from the settings in the code by \`npm run configuration\`. Do not edit.

/**
 * Every variable that some service reads. Services share one environment: a variable of another service is not
 * misspelt. The ports of terminal protocols are left out: their list grows with the protocols, and none of their names
 * is close to one of these.
 */
export const KNOWN_VARIABLES: readonly string[] = [
${listed.map((name) => `  '${name}',`).join('\n')}
];
`;
}
