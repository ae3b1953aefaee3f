import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { EMPTY_ARCHIVE, sampleReading } from '../empty-archive.fixture.ts';
import { tripsReport } from '../kinds/event-lists.ts';
import type { ReportKind, Row, Value } from '../report.ts';
import { trackReport } from '../tracks.ts';
import { readCsv } from './csv.ts';
import type { Format } from './format.ts';
import { acceptedFormat, FORMATS, formatsOf } from './formats.ts';
import { geojson, gpx, kml } from './lines.ts';
import { zonedTimes } from './offsets.ts';
import { csv, ndjson } from './text.ts';
import { xlsx } from './xlsx.ts';

const AT_MS = Date.UTC(2026, 2, 29, 0, 59, 59, 250);
const ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';
const KIND: ReportKind = {
  name: 'some',
  summary: 'Some rows.',
  columns: [
    { name: 'vehicleId', type: 'id', always: true },
    { name: 'name', type: 'text' },
    { name: 'at', type: 'time' },
    { name: 'day', type: 'day' },
    { name: 'metres', type: 'number' },
    { name: 'count', type: 'whole' },
    { name: 'on', type: 'flag' },
    { name: 'more', type: 'json' },
  ],
  cursor: z.never(),
  page: async () => ({ rows: [], next: null }),
};
const ROWS: Row[] = [
  [ID, '=HYPERLINK("http://x")', AT_MS, '2026-03-29', 12.5, 3, true, { a: [1] }],
  [ID, 'A, "quoted"\nline & <tag>\u0001', null, '2026-03-30', -0.25, null, false, null],
  [ID, null, AT_MS + 2000, '2026-03-31', null, 0, null, ['sos', 'crash']],
];

async function* one(...pages: Row[][]) {
  yield* pages;
}

const MADE = { columns: null, groupBy: null, reading: sampleReading() };

async function bytesOf(format: Format, kind: ReportKind, ...pages: Row[][]): Promise<Buffer> {
  const parts: Buffer[] = [];
  const signal = new AbortController().signal;
  const written = format.write({
    kind,
    pages: one(...pages),
    timeZone: 'Europe/Berlin',
    ...MADE,
    archive: EMPTY_ARCHIVE,
    signal,
  });
  for await (const part of written) parts.push(Buffer.from(part as string));
  return Buffer.concat(parts);
}
const textOf = async (format: Format, kind: ReportKind, ...pages: Row[][]) =>
  (await bytesOf(format, kind, ...pages)).toString();

/** The files of a zip, by its directory. */
function unzip(bytes: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'));
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [packed, size, name, start] = [
      bytes.readUInt32LE(at + 20),
      bytes.readUInt32LE(at + 24),
      bytes.readUInt16LE(at + 28),
      bytes.readUInt32LE(at + 42),
    ];
    const data = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    const content = inflateRawSync(bytes.subarray(data, data + packed));
    expect(content.length).toBe(size);
    files.set(bytes.subarray(at + 46, at + 46 + name).toString(), content.toString());
    at += 46 + name;
  }
  return files;
}

test('NDJSON is a JSON object a line', async () => {
  const lines = (await textOf(ndjson, KIND, ROWS.slice(0, 2), ROWS.slice(2))).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      vehicleId: ID,
      name: ROWS[0]?.[1],
      at: '2026-03-29T00:59:59.250Z',
      day: '2026-03-29',
      metres: 12.5,
      count: 3,
      on: true,
      more: { a: [1] },
    },
    {
      vehicleId: ID,
      name: ROWS[1]?.[1],
      at: null,
      day: '2026-03-30',
      metres: -0.25,
      count: null,
      on: false,
      more: null,
    },
    {
      vehicleId: ID,
      name: null,
      at: '2026-03-29T01:00:01.250Z',
      day: '2026-03-31',
      metres: null,
      count: 0,
      on: null,
      more: ['sos', 'crash'],
    },
  ]);
});

test('CSV reads back, is no formula, and has its times by the clock of the zone', async () => {
  const [header, ...records] = [...readCsv(await textOf(csv, KIND, ROWS), ',')].map(({ cells }) => cells);
  expect(header).toEqual(KIND.columns.map(({ name }) => name));
  expect(records).toEqual([
    [ID, `'=HYPERLINK("http://x")`, '2026-03-29T01:59:59.250+01:00', '2026-03-29', '12.5', '3', 'true', '{"a":[1]}'],
    [ID, ROWS[1]?.[1], '', '2026-03-30', '-0.25', '', 'false', ''],
    [ID, '', '2026-03-29T03:00:01.250+02:00', '2026-03-31', '', '0', '', 'sos|crash'],
  ]);
});

test.each([
  ['Asia/Kolkata', '2026-11-27T01:30:00.000+05:30'],
  ['America/St_Johns', '2026-11-26T16:30:00.000-03:30'],
  ['UTC', '2026-11-26T20:00:00.000Z'],
])('a time of a CSV in %s', (timeZone, written) => {
  expect(zonedTimes(timeZone)(Date.UTC(2026, 10, 26, 20))).toBe(written);
});

describe('XLSX', () => {
  const cellsOf = (sheet: string) =>
    [...sheet.matchAll(/<row>(.*?)<\/row>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<c(?: [^>]*)?(?:\/>|>(.*?)<\/c>)/gs)].map(([, cell]) => cell?.replaceAll(/<[^>]*>/g, '') ?? ''),
    );

  test('is a zip with a sheet of cells, texts as texts and times by the clock of the zone', async () => {
    const files = unzip(await bytesOf(xlsx, KIND, ROWS.slice(0, 1), ROWS.slice(1)));
    expect([...files.keys()].toSorted()).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/workbook.xml',
      'xl/worksheets/sheet1.xml',
    ]);
    const sheet = files.get('xl/worksheets/sheet1.xml') ?? '';
    expect(sheet).not.toContain('<f>');
    const [header, first, second, third] = cellsOf(sheet);
    expect(header).toEqual(KIND.columns.map(({ name }) => name));
    expect(first?.[1]).toBe('=HYPERLINK(&quot;http://x&quot;)');
    expect(second?.[1]).toBe('A, &quot;quoted&quot;\nline &amp; &lt;tag&gt;');
    // Two seconds that an hour lies between, on the wall's clock: 01:59:59 and 03:00:01 of the 29th, day 46110 since
    // 1899.
    const clock = (cell?: string) => Math.round((Number(cell) - 46_110) * 86_400);
    expect([clock(first?.[2]), clock(third?.[2])]).toEqual([2 * 3600 - 1, 3 * 3600 + 1]);
    expect([first?.[3], first?.[4], first?.[6], second?.[6], third?.[6], third?.[7]]).toEqual([
      '46110',
      '12.5',
      '1',
      '0',
      '',
      'sos|crash',
    ]);
  });

  test('has a sheet that says of when rows are missing', async () => {
    const reading = sampleReading({ incomplete: [{ fromMs: AT_MS, toMs: AT_MS + 1000 }] });
    const parts: Buffer[] = [];
    const signal = new AbortController().signal;
    const asked = { kind: KIND, pages: one(ROWS), timeZone: 'Europe/Berlin', ...MADE, reading, signal };
    for await (const part of xlsx.write({ ...asked, archive: EMPTY_ARCHIVE })) parts.push(Buffer.from(part as string));
    const files = unzip(Buffer.concat(parts));
    expect(files.get('xl/workbook.xml')).toContain('<sheet name="incomplete" sheetId="2"');
    const [header, span = []] = cellsOf(files.get('xl/worksheets/sheet2.xml') ?? '');
    expect(header).toEqual(['incompleteFrom', 'incompleteTo']);
    const seconds = span.map((cell) => Math.round((Number(cell) - 46_110) * 86_400));
    expect(seconds).toEqual([2 * 3600 - 1, 3 * 3600]);
  });

  test('goes on on another sheet where one is full', async () => {
    const page = Array.from({ length: 100_000 }, (_, nth): Row => [nth]);
    const kind = { ...KIND, columns: [{ name: 'n', type: 'whole' }] } as ReportKind;
    const files = unzip(await bytesOf(xlsx, kind, ...Array.from({ length: 11 }, () => page)));
    const rows = (n: number) => files.get(`xl/worksheets/sheet${n}.xml`)?.split('<row>').length;
    expect([rows(1), rows(2), rows(3)]).toEqual([1_048_576 + 1, 1_100_000 - 1_048_575 + 2, undefined]);
    expect(files.get('xl/workbook.xml')).toContain('sheetId="2"');
  });
});

describe('what is written is asked for page by page, as it is taken', () => {
  for (const format of FORMATS.filter(
    ({ name, maxRows }) => name !== 'parquet' && name !== 'arrow' && maxRows === undefined,
  ))
    test(format.name, async () => {
      let asked = 0;
      let isClosed = false;
      const position = (n: number): Row => [
        ID,
        'Van',
        AT_MS + n * 1000,
        52 + Math.sin(n) * 1e-3,
        13,
        true,
        null,
        n % 90,
        0,
        null,
        9,
        true,
        n,
        null,
        null,
        [],
        null,
      ];
      async function* pages() {
        try {
          for (; asked < 1000; asked++) yield Array.from({ length: 2000 }, (_, n) => position(asked * 2000 + n));
        } finally {
          isClosed = true;
        }
      }
      const signal = new AbortController().signal;
      const written = format.write({
        kind: trackReport,
        pages: pages(),
        timeZone: 'UTC',
        ...MADE,
        archive: EMPTY_ARCHIVE,
        signal,
      });
      let taken = 0;
      for await (const part of written) {
        taken += part.length;
        if (taken > 1_000_000) break;
      }
      // A deflated page is small; even so it is far from all.
      expect(asked).toBeLessThan(200);
      expect(isClosed).toBe(true);
    });
});

describe('tracks as lines', () => {
  const position = (vehicle: string, seconds: number, altitude: number | null = null): Row => {
    const at = 52 + seconds / 1e5;
    return [
      vehicle,
      `Van <${vehicle}>`,
      AT_MS + seconds * 1000,
      at,
      13,
      true,
      null,
      50,
      0,
      altitude,
      9,
      true,
      null,
      null,
      null,
      [],
      null,
    ];
  };
  // One vehicle with a gap of two hours, over pages; another.
  const pages = [
    [position('a', 0, 12), position('a', 10)],
    [position('a', 20), position('a', 7300)],
    [position('a', 7310), position('b', 0)],
  ];

  test('GeoJSON: a feature for each part without a gap, with its times', async () => {
    const { features } = JSON.parse(await textOf(geojson, trackReport, ...pages));
    expect(features).toMatchObject([
      {
        geometry: { type: 'LineString' },
        properties: { vehicleId: 'a', vehicleName: 'Van <a>', speedsKmh: [50, 50, 50] },
      },
      { properties: { vehicleId: 'a' } },
      { properties: { vehicleId: 'b' } },
    ]);
    expect(features[0].geometry.coordinates).toEqual([
      [13, 52, 12],
      [13, 52.0001],
      [13, 52.0002],
    ]);
    expect(features[1].properties.times).toEqual([7300, 7310].map((s) => new Date(AT_MS + s * 1000).toISOString()));
    expect(JSON.parse(await textOf(geojson, trackReport))).toEqual({ type: 'FeatureCollection', features: [] });
  });

  test('what is a jump, or not to be trusted, is in no line, whatever it stands beside', async () => {
    const away = (row: Row, more: readonly [place: number, value: Value][]): Row =>
      row.map((value, place) => more.find(([which]) => which === place)?.[1] ?? (place === 3 ? -77 : value));
    const jump = (seconds: number) => away(position('a', seconds), [[6, 'jump']]);
    const distrusted = (seconds: number) => away(position('a', seconds), [[5, false]]);
    const spiked = [
      [jump(-5), position('a', 0, 12), distrusted(2), position('a', 10), jump(15)],
      [jump(16)],
      [distrusted(17), position('a', 20), jump(4000), position('a', 7300)],
      [position('a', 7310), position('b', 0)],
    ];
    for (const format of [geojson, gpx, kml]) {
      const text = await textOf(format, trackReport, ...spiked);
      expect(text).toBe(await textOf(format, trackReport, ...pages));
      expect(text).not.toContain('77');
    }
    // In a table they are, with what is said of them.
    expect(await textOf(csv, trackReport, ...spiked)).toMatch(/-77,13,true,jump,/);
  });

  test('a long one is several features, each going on where the one before ended', async () => {
    const long = Array.from({ length: 25_000 }, (_, n) => position('a', n));
    const { features } = JSON.parse(await textOf(geojson, trackReport, long.slice(0, 9000), long.slice(9000)));
    const lines = features.map((feature: { geometry: { coordinates: unknown[] } }) => feature.geometry.coordinates);
    expect(lines.map(({ length }: unknown[]) => length)).toEqual([10_000, 10_000, 5002]);
    expect(lines[1][0]).toEqual(lines[0].at(-1));
  });

  test('GPX: a track for each vehicle, a segment for each part without a gap', async () => {
    const xml = await textOf(gpx, trackReport, ...pages);
    expect(xml.match(/<trk>/g)).toHaveLength(2);
    expect(xml.match(/<trkseg>/g)).toHaveLength(3);
    expect(xml.match(/<trkpt /g)).toHaveLength(6);
    expect(xml.match(/<\/trkseg>/g)).toHaveLength(3);
    expect(xml.match(/<\/trk>/g)).toHaveLength(2);
    expect(xml).toContain('<name>Van &lt;a&gt;</name>');
    expect(xml).toContain(
      `<trkpt lat="52" lon="13"><ele>12</ele><time>${new Date(AT_MS).toISOString()}</time></trkpt>`,
    );
  });

  test('KML: a placemark for each part without a gap', async () => {
    const xml = await textOf(kml, trackReport, ...pages);
    expect(xml.match(/<Placemark>/g)).toHaveLength(3);
    expect(xml.match(/<\/Placemark>/g)).toHaveLength(3);
    expect(xml).toContain('13,52,12\n13,52.0001\n');
  });
});

test('Accept decides, by weight and by order', () => {
  const formats = formatsOf({});
  const name = (accept?: string) => {
    const found = acceptedFormat(accept, formats);
    return found === null ? 'json' : found?.name;
  };
  expect(name()).toBe('json');
  expect(name('*/*')).toBe('json');
  expect(name('text/csv')).toBe('csv');
  expect(name('text/csv;q=0.5, application/x-ndjson')).toBe('ndjson');
  expect(name('text/html, application/xhtml+xml, */*;q=0.8')).toBe('json');
  expect(name('text/csv;q=0, application/json')).toBe('json');
  expect(name('image/png')).toBeUndefined();
  expect(name('application/gpx+xml')).toBeUndefined();
  expect(acceptedFormat('application/gpx+xml', formatsOf({ isTrack: true }))?.name).toBe('gpx');
  expect(tripsReport.columns.length).toBeGreaterThan(10);
});
