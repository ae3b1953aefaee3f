import type { Variables } from '@outrider/runtime';

/** The settings as rows of a Markdown table, as the README has them. */
export function settingsTable(variables: Variables): string {
  return Object.entries(variables)
    .map(([name, { fallback, description }]) => {
      const shown = fallback === undefined || fallback === '' || fallback === ',' ? '' : `\`${fallback}\``;
      return `| \`${name}\` | ${shown} | ${description} |`;
    })
    .join('\n');
}
