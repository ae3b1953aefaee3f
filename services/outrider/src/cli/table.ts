/** A column of a table: its title, and the path of its value, such as `properties.name`. */
export type Column = readonly [title: string, path: string];

/** Rows as text: each column as wide as its longest value. */
export function tableOf(columns: readonly Column[], items: readonly unknown[]): string[] {
  const rows = [columns.map(([title]) => title), ...items.map((item) => columns.map(([, path]) => cellOf(item, path)))];
  const widths = columns.map((_, nth) => Math.max(...rows.map((row) => row[nth]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, nth) => cell.padEnd(widths[nth] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function cellOf(item: unknown, path: string): string {
  let value: unknown = item;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[name];
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // Removes control characters: data of other users must not send escape sequences to the terminal.
  return text.replace(/\p{Cc}/gu, ' ');
}
