import type { ReportKind, ReportTotals } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formats } from '../../format.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { Failure } from './failure.tsx';
import { groupText, quantity, titleOfColumn } from './kinds.ts';
import { type Look, type Question, queryOf, zoneOf } from './state.ts';
import { reportWords } from './words.ts';

interface Props {
  kind: ReportKind;
  question: Question;
  look: Look;
}

type Group = ReportTotals['groups'][number];

/** Totals of the whole report as the API computes them: by vehicle, day or another grouping. */
export function GroupsPane({ kind, question, look }: Props) {
  const grouping = kind.groupings.find((one) => one === look.groupBy) ?? kind.groupings[0];
  const totals = useSignal<ReportTotals | null>(null);
  const failure = useSignal<unknown>(null);
  const attempt = useSignal(0);
  const zone = zoneOf(preferences.value.timeZone);
  useEffect(() => {
    const ending = new AbortController();
    totals.value = null;
    failure.value = null;
    readTotals(kind, question, grouping ?? '', zone, ending.signal).then(
      (read) => {
        totals.value = read;
      },
      (error: unknown) => {
        if (!ending.signal.aborted) failure.value = error;
      },
    );
    return () => ending.abort();
  }, [kind, question, grouping, zone, attempt.value]);
  const summed = kind.columns.filter(({ total }) => total !== null);
  const all = totals.value;
  const columns: Column<Group>[] = [
    {
      key: 'key',
      title: grouping === undefined ? '' : reportWords().groupings[grouping],
      cell: ({ key }) => groupText(grouping, key),
      total: reportWords().total,
    },
    {
      key: 'rows',
      title: reportWords().rowCount,
      isNumber: true,
      cell: ({ rows }) => formats().number(rows),
      total: formats().number(all?.rows),
    },
    ...summed.map(
      ({ name, unit }): Column<Group> => ({
        key: name,
        title: titleOfColumn(name),
        isNumber: true,
        cell: ({ values }) => valueText(name, unit, values[name]),
        total: valueText(name, unit, all?.values[name]),
      }),
    ),
  ];
  return (
    <div class="pane groups">
      <div class="pane-tools">
        <Choice label={reportWords().groupBy} value={grouping ?? ''} onChange={(groups) => setQuery({ groups })}>
          {kind.groupings.map((one) => (
            <option key={one} value={one} selected={one === grouping}>
              {reportWords().groupings[one]}
            </option>
          ))}
        </Choice>
      </div>
      {failure.value !== null ? (
        <Failure
          error={failure.value}
          onRetry={() => {
            attempt.value += 1;
          }}
        />
      ) : all === null ? (
        <Message title={t().loading} />
      ) : (
        <Table<Group>
          label={reportWords().groups}
          columns={columns}
          rows={all.groups}
          rowKey={({ key }) => key ?? ''}
        />
      )}
    </div>
  );
}

function valueText(name: string, unit: ReportKind['columns'][number]['unit'], value: number | null | undefined) {
  return value === null || value === undefined ? '–' : quantity(name, unit, value);
}

async function readTotals(
  kind: ReportKind,
  question: Question,
  groupBy: string,
  zone: string,
  signal: AbortSignal,
): Promise<ReportTotals> {
  const query = { ...queryOf(question, kind, zone), groupBy, limit: 1 };
  const { shape } = question;
  const path = `/api/v1/reports/${kind.kind}`;
  const answer = await (shape === null
    ? api.send('get', path, { query, signal })
    : api.send('post', path, { query, body: shape, signal }));
  return (await answer.json()).totals;
}
