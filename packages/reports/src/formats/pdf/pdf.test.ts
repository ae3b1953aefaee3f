import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EMPTY_ARCHIVE, sampleReading } from '../../empty-archive.fixture.ts';
import { tripsReport } from '../../kinds/event-lists.ts';
import { type ReportKind, type Row, TooManyRowsError } from '../../report.ts';
import { mileageReport } from '../../totals.ts';
import type { Rows } from '../format.ts';
import { runsOf } from './bidi.ts';
import { niceStep } from './chart.ts';
import { MAX_PDF_ROWS, pdf, shared } from './pdf.ts';

const START_MS = Date.UTC(2026, 2, 28, 7);
const ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';

function mileageRows(count: number): Row[] {
  return Array.from({ length: count }, (_, nth) => [
    ID,
    `Van ${nth % 3}`,
    new Date(START_MS + nth * 86_400_000).toISOString().slice(0, 10),
    1000 * (nth + 1),
    nth % 5,
    600 * nth,
  ]);
}

async function pdfOf(kind: ReportKind, rows: Row[], more: Partial<Rows> = {}): Promise<Buffer> {
  const pages = (async function* () {
    for (let at = 0; at < rows.length; at += 1000) yield rows.slice(at, at + 1000);
  })();
  const written = pdf.write({
    ...{ kind, pages, timeZone: 'Europe/Berlin', columns: null, groupBy: null, reading: sampleReading() },
    ...{ archive: EMPTY_ARCHIVE, signal: new AbortController().signal },
    ...more,
  });
  return Buffer.concat((await Array.fromAsync(written)).map((part) => Buffer.from(part as Uint8Array)));
}

/** The text of each page as it stands there, by the fonts' own maps from glyphs to characters. */
function textsOf(file: Buffer): string[] {
  const raw = file.toString('latin1');
  const objects = new Map<string, string>();
  for (const [, id = '', body = ''] of raw.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) objects.set(id, body);
  const streamOf = (id: string) => {
    const body = objects.get(id) ?? '';
    const bytes = Buffer.from(body.slice(body.indexOf('stream\n') + 7, body.lastIndexOf('\nendstream')), 'latin1');
    return (body.includes('FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1');
  };
  const fonts = new Map<string, Map<number, string>>();
  for (const body of objects.values())
    for (const [, name = '', id = ''] of body.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const map = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '')?.[1];
      if (map === undefined || fonts.has(name)) continue;
      const glyphs = new Map<number, string>();
      for (const [, range = ''] of streamOf(map).matchAll(/beginbfrange\n([\s\S]*?)endbfrange/g))
        for (const [, first = '', list = ''] of range.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[(.*?)\]/gi))
          for (const [nth, [, hex = '']] of [...list.matchAll(/<([0-9a-f ]*)>/gi)].entries())
            glyphs.set(
              Number.parseInt(first, 16) + nth,
              Buffer.from(hex.replaceAll(' ', ''), 'hex').swap16().toString('utf16le'),
            );
      fonts.set(name, glyphs);
    }
  return [...objects.values()]
    .filter((body) => /\/Type \/Page\n/.test(body))
    .map((body) => {
      const content = streamOf(/\/Contents (\d+) 0 R/.exec(body)?.[1] ?? '');
      let glyphs = new Map<number, string>();
      let text = '';
      for (const [, font, list] of content.matchAll(/\/(F\d+) [\d.]+ Tf|\[(.*?)\] TJ/g)) {
        if (font) glyphs = fonts.get(font) ?? glyphs;
        else {
          for (const [, hex = ''] of (list ?? '').matchAll(/<([0-9a-f]+)>/g))
            for (const [glyph] of hex.matchAll(/.{4}/g)) text += glyphs.get(Number.parseInt(glyph, 16)) ?? '?';
          text += '\n';
        }
      }
      return text;
    });
}

describe('a report for reading', () => {
  test('says what it is, for whom and when, with totals and the number of pages', async () => {
    const [page = '', ...others] = textsOf(await pdfOf(mileageReport, mileageRows(4)));
    expect(others).toEqual([]);
    for (const text of ['Mileage', 'For: Anna', 'Time zone: Europe/Berlin', 'Page 1 of 1', 'Van 2', '28 Mar 2026'])
      expect(page).toContain(text);
    expect(page).toContain('12 Jan 2026, 01:00 – 13 Jan 2026, 01:00');
    // The sum of 1 to 4 km.
    expect(page).toContain('Total · 4\n10 km\n6\n1:00\n');
    expect(page).not.toContain(ID);
  });

  test('has a row for everything, the heads of columns on each page, and groups with their totals', async () => {
    const pages = textsOf(await pdfOf(mileageReport, mileageRows(300), { groupBy: 'vehicle' }));
    expect(pages.length).toBeGreaterThan(5);
    for (const page of pages) expect(page).toContain('Moving\n');
    const all = pages.join('');
    expect(all.match(/Van \d · 100\n/g)).toEqual(['Van 0 · 100\n', 'Van 1 · 100\n', 'Van 2 · 100\n']);
    expect(all.match(/^Van \d$/gm)?.length).toBeGreaterThanOrEqual(300);
    expect(pages.at(-1)).toContain(`Page ${pages.length} of ${pages.length}`);
  });

  test('says of when rows are missing', async () => {
    const incomplete = [{ fromMs: Date.UTC(2026, 0, 12, 8), toMs: Date.UTC(2026, 0, 12, 9, 30) }];
    const text = textsOf(await pdfOf(mileageReport, mileageRows(4), { reading: sampleReading({ incomplete }) })).join(
      '',
    );
    expect(text.replaceAll('\n', ' ')).toContain(
      'Incomplete: rows from 12 Jan 2026, 09:00 to 12 Jan 2026, 10:30 are lost',
    );
  });

  test('is in the language of its reader, also from right to left', async () => {
    const rows: Row[] = [[ID, 'משאית 7 (צפון)', '2026-03-28', 5000, 2, 600]];
    const russian = textsOf(await pdfOf(mileageReport, rows, { reading: sampleReading({ language: 'ru' }) }));
    expect(russian[0]).toContain('Пробег');
    expect(russian[0]).toContain('Страница 1 из 1');
    const hebrew = textsOf(await pdfOf(mileageReport, rows, { reading: sampleReading({ language: 'he' }) }));
    // Letters stand as they are drawn: the last of a word first.
    expect(hebrew[0]).toContain(`\n${[...'משאית '].reverse().join('')}\n`);
    expect(hebrew[0]).toContain([...'סה״כ'].reverse().join(''));
  });

  test('has chosen columns alone, and says where nothing is', async () => {
    const page = textsOf(await pdfOf(mileageReport, mileageRows(2), { columns: ['vehicleName', 'trips'] })).join('');
    expect(page).toContain('Vehicle\nTrips\nVan 0\n0\nVan 1\n1\nTotal · 2\n1\n');
    expect(textsOf(await pdfOf(mileageReport, [])).join('')).toContain('Nothing in this period.');
  });

  test('units are those of its reader', async () => {
    const reading = sampleReading({ units: 'imperial' });
    expect(textsOf(await pdfOf(mileageReport, mileageRows(4), { reading })).join('')).toContain('6.2 mi');
  });

  test('is refused with more rows than anybody reads', async () => {
    await expect(pdfOf(mileageReport, mileageRows(MAX_PDF_ROWS + 1))).rejects.toThrow(TooManyRowsError);
  });

  test('a long name takes several lines and keeps within its column', async () => {
    const row = tripsReport.columns.map(({ name, type }) =>
      name === 'startPlace'
        ? 'Łódź, ul. Piotrkowska '.repeat(20)
        : type === 'time'
          ? START_MS
          : type === 'number'
            ? 1
            : 'x',
    );
    expect(textsOf(await pdfOf(tripsReport, [row]))[0]).toContain('…');
  });
});

test('text in both directions is cut into runs as they stand on paper', () => {
  expect(runsOf('Van 12', 'ltr')).toEqual([{ text: 'Van 12', isRightToLeft: false }]);
  expect(runsOf('משאית 12 צפון', 'rtl').map(({ text }) => text)).toEqual([' צפון', '12', 'משאית ']);
  expect(runsOf('Van משאית 12', 'ltr').map(({ text }) => text)).toEqual(['Van ', '12', 'משאית ']);
  expect(runsOf('', 'rtl')).toEqual([]);
});

test('columns fill the page, and none is narrower than its words where that can be', () => {
  expect(
    shared(
      [
        { least: 10, most: 20 },
        { least: 10, most: 30 },
      ],
      100,
    ),
  ).toEqual([40, 60]);
  expect(
    shared(
      [
        { least: 10, most: 20 },
        { least: 10, most: 130 },
      ],
      85,
    ),
  ).toEqual([15, 70]);
  expect(
    shared(
      [
        { least: 50, most: 60 },
        { least: 150, most: 160 },
      ],
      100,
    ),
  ).toEqual([25, 75]);
});

test('the lines of a chart are at round numbers', () => {
  expect(niceStep(37, null)).toBe(50);
  expect(niceStep(0.3, null)).toBe(0.5);
  expect(niceStep(5000, { name: 'tripSeconds', type: 'number' })).toBe(7200);
});
