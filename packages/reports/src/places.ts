import type { Column, ReportKind, Value } from './report.ts';

const COLUMNS = [
  {
    name: 'startPlace',
    type: 'text',
    about:
      'Place of the start: the smallest geozone around it that the caller may see, otherwise the address or the nearest town. Null if none is known.',
  },
  { name: 'endPlace', type: 'text', about: 'Place of the end, named in the same way. Null while in progress.' },
] as const satisfies readonly Column[];

/** The same report with place names beside coordinates, for each row that has a start and an end. */
export function withPlaces(kind: ReportKind): ReportKind {
  const at = (name: string) => {
    const index = kind.columns.findIndex((column) => column.name === name);
    if (index === -1) throw new Error(`report ${kind.name} has no column ${name}`);
    return index;
  };
  const pairs = [
    [at('startLatitude'), at('startLongitude')],
    [at('endLatitude'), at('endLongitude')],
  ] as const;
  return {
    ...kind,
    columns: [...kind.columns, ...COLUMNS],
    async page(sources, question, after, limit) {
      const page = await kind.page(sources, question, after, limit);
      const rows = page.rows.map((row) => ({ row, points: pairs.map(([x, y]) => pointOf(row[x], row[y])) }));
      const points = rows.flatMap((each) => each.points.filter((point) => point !== null));
      const places = (await sources.placesOf(points)).values();
      const named = rows.map(({ row, points: own }) => [
        ...row,
        ...own.map((point) => (point === null ? null : (places.next().value?.text ?? null))),
      ]);
      return { ...page, rows: named };
    },
  };
}

function pointOf(latitude: Value | undefined, longitude: Value | undefined) {
  return typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : null;
}
