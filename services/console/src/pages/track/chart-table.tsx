import { formats } from '../../format.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Table } from '../../parts/lists/table.tsx';
import { joined, t } from '../../words/words.ts';
import { words } from '../sensors/words.ts';
import type { ChartProps } from './chart.tsx';
import { changeText } from './fuel-marks.tsx';
import { lineOf } from './measured.ts';
import { measureName, measureText, nameOf } from './names.ts';
import { trackWords } from './words.ts';

/** The data of the chart as a table: for screen readers, and for everybody who wants the figures. */
export function ChartTable({
  parts,
  vehicleIds,
  measures,
  measured,
  clock,
  onClose,
}: ChartProps & { onClose: () => void }) {
  const format = formats();
  const lines = parts.flatMap((part) =>
    measures.map((name) => ({ part, name, ...lineOf(part, name, measured.get(part.vehicleId)) })),
  );
  const rows = rowsOf(lines);
  const changes = parts.flatMap(({ vehicleId }) => measured.get(vehicleId)?.changes ?? []);
  const isAlone = parts.length === 1;
  const stepMs = Math.max(0, ...lines.map((line) => line.stepMs));
  return (
    <Dialog
      title={joined(
        measures.map((name) => measureName(name, vehicleIds)),
        ', ',
      )}
      isWide
      onClose={onClose}
    >
      {changes.length > 0 && (
        <section>
          <h3>{words().chart.events}</h3>
          <ul>
            {changes.map((change) => (
              <li key={`${change.vehicleId} ${change.kind} ${change.startedAt}`}>
                {joined(
                  [
                    isAlone ? null : change.vehicleName,
                    format.dateTime(change.startedAt),
                    changeText(change),
                    words().chart.levels(format.volume(change.levelBeforeL), format.volume(change.levelAfterL)),
                    change.startPlace,
                  ],
                  ', ',
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {stepMs > 0 && <small>{words().chart.averaged(format.duration(stepMs / 1000))}</small>}
      <Table
        label={trackWords().overTime(
          joined(
            measures.map((name) => measureName(name, vehicleIds)),
            ', ',
          ),
        )}
        rows={rows}
        rowKey={({ second }) => String(second)}
        onOpen={({ second }) => {
          clock.seek(second * 1000);
          onClose();
        }}
        columns={[
          {
            key: 'time',
            title: t().time,
            cell: ({ second }: TableRow) => format.dateTimeWithSeconds(second * 1000),
          },
          ...lines.map(({ part, name }, nth) => ({
            key: `${part.vehicleId} ${name}`,
            title: isAlone ? measureName(name, vehicleIds) : nameOf(part.vehicleId),
            isNumber: true,
            cell: ({ values }: TableRow) => <bdi>{measureText(name, values[nth] ?? null, vehicleIds)}</bdi>,
          })),
        ]}
      />
    </Dialog>
  );
}

interface TableRow {
  second: number;
  values: (number | null)[];
}

function rowsOf(lines: readonly { seconds: readonly number[]; values: readonly (number | null)[] }[]): TableRow[] {
  const rows = new Map<number, (number | null)[]>();
  for (const [nth, { seconds, values }] of lines.entries())
    for (const [at, second] of seconds.entries()) {
      const value = values[at] ?? null;
      if (value === null) continue;
      const row = rows.get(second) ?? lines.map(() => null);
      row[nth] = value;
      rows.set(second, row);
    }
  return [...rows].map(([second, values]) => ({ second, values })).sort((a, b) => a.second - b.second);
}
