import { DEVICE_MODELS } from '@outrider/domain';
import { COMMON, type Element, Elements, FAMILIES, type Row } from './elements.ts';
import { familyOf } from './models.ts';

const HEAD = `# Elements of Teltonika terminals

What an I/O element (AVL id) means depends on the model of the terminal. Set the device model of the vehicle
(\`deviceModel\`): the table says which common name an element gets beside its own, \`io<id>\`. Without a model, column
"any" holds: an element is named where it means the same on every family that has it in this width. Odometer, supply
voltage, fuel and alarms then mean what they mean on FMB.

From the pages "Data Sending Parameters ID" of Teltonika's wiki. A temperature of an absent or failing sensor, a level
that is an error, and a percentage above 100 have no common name in that record; their raw value is kept. Keys (iButton)
are shown as printed: their bytes are sent in reverse order. Elements of any length are hexadecimal digits, text where
the wiki says so (256, 264, 281, 325, 387, 641).

| sensors | temperature | humidity | level |
|---|---|---|---|
| 1-wire (Dallas), LLS | 1–6 | | 1–5 |
| Bluetooth | 5–8 | 1–4 | 6–9 |
| EYE | 9–12 | 5–8 | |

## Families
`;

/** The page of elements in the documents. */
export function elementsPage(): string {
  const tables: [title: string, rows: readonly Row[]][] = [
    ['any', COMMON.rows],
    ...Object.entries(FAMILIES).map(([family, rows]): [string, readonly Row[]] => [family, new Elements(rows).rows]),
  ];
  const keys = new Map<string, Map<string, Element>>();
  for (const [title, rows] of tables)
    for (const [id, bytes, element] of rows) {
      const key = `${id} | ${bytes}`;
      const found = keys.get(key) ?? new Map<string, Element>();
      keys.set(key, found.set(title, element));
    }
  const titles = tables.map(([title]) => title);
  const lines = [...keys]
    .toSorted(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1))
    .filter(([, found]) => [...found.values()].some(({ use }) => use !== 'raw'))
    .map(([key, found]) => `| ${key} | ${titles.map((title) => words(found.get(title))).join(' | ')} |`);
  const models = Object.keys(FAMILIES).map((family) => {
    const names = DEVICE_MODELS.teltonika.filter((model) => familyOf(model) === family);
    return `| ${family} | ${names.join(', ')} |`;
  });
  return [
    HEAD,
    '| family | models |',
    '|---|---|',
    ...models,
    '',
    '## Elements',
    '',
    `| id | bytes | ${titles.join(' | ')} |`,
    `|${'---|'.repeat(titles.length + 2)}`,
    ...lines,
    '',
  ].join('\n');
}

function words(element: Element | undefined): string {
  if (element === undefined || element.use === 'raw') return '';
  const { use, name, times, per } = element;
  if (use === 'alarm') return 'alarm';
  if (use === 'doors') return 'door1…door6';
  if (use === 'operator') return 'mcc, mnc';
  const factor = times !== 1 ? ` × ${times}` : per !== 1 ? ` / ${per}` : '';
  return `${name}${factor}`;
}
