import type { ReportKind } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Picker } from '../../parts/forms/picker.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import type { PagedList } from '../../parts/lists/pages.ts';
import { type Column, type Sorting, sorted, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { type Missing, MissingNotes } from '../../protection/missing.tsx';
import { route, setQuery } from '../../router.ts';
import { t } from '../../words/words.ts';
import { Export } from './export.tsx';
import { Failure } from './failure.tsx';
import { GroupsPane } from './groups-pane.tsx';
import { groupText, quantity, summaryOfKind, textOf, titleOfColumn, titleOfKind } from './kinds.ts';
import { LinePane } from './line-pane.tsx';
import { ChartPane, HeatPane, MapPane, NothingToDraw } from './panes.tsx';
import { replayLinkOf } from './row-link.ts';
import { momentOf, numberIn, placeOf, type ReportColumn, type Row, totalOf } from './rows.ts';
import { type Look, lookOf, type Pane, type Question, reportLink, templateOf } from './state.ts';
import { SaveTemplate } from './templates.tsx';
import { reportWords } from './words.ts';

/** Maximum number of rows that a page can handle. Files have all rows. */
const MOST_ROWS = 50_000;

interface Props {
  kind: ReportKind;
  question: Question;
  pages: PagedList<Row>;
  zone: string;
  missing: Missing;
}

/** A row with its number in the report. */
interface Line {
  key: string;
  row: Row;
}

export function Result({ kind, question, pages, zone, missing }: Props) {
  const look = lookOf(route.value.query);
  const items = pages.items.value;
  const failure = pages.error.value;
  const rows = useMemo(() => (items ?? []).map(named), [items]);
  const chosen = useSignal<Row | null>(null);
  useEffect(() => {
    chosen.value = null;
  }, [pages]);
  return (
    <div class="result">
      <Head kind={kind} question={question} look={look} pages={pages} rows={rows} zone={zone} />
      <MissingNotes {...missing} />
      {failure !== null && items === null ? (
        <Failure error={failure} onRetry={() => void pages.reload()} />
      ) : items === null ? (
        <Message title={reportWords().making} />
      ) : rows.length === 0 ? (
        <Message icon="chart" title={reportWords().noRows} hint={reportWords().noRowsHint} />
      ) : (
        <>
          <PaneBox
            kind={kind}
            question={question}
            look={look}
            rows={rows}
            chosen={chosen.value}
            onChoose={(row) => {
              chosen.value = row;
            }}
          />
          {pages.hasMore.value && look.pane !== 'none' && <small>{reportWords().firstRows(rows.length)}</small>}
          <Rows
            kind={kind}
            question={question}
            look={look}
            rows={rows}
            hasMore={pages.hasMore.value}
            chosen={chosen.value}
            onChoose={(row) => {
              chosen.value = row;
            }}
          />
          <More pages={pages} count={rows.length} isSorted={look.sort !== null} />
        </>
      )}
    </div>
  );
}

/** Adds the vehicle's name to positions of a track, which lack it. */
function named(row: Row): Row {
  if (row.vehicleName !== undefined) return row;
  return { ...row, vehicleName: fleet.vehicles[fleet.indexOf(String(row.vehicleId))]?.name ?? null };
}

function Head({
  kind,
  question,
  look,
  pages,
  rows,
  zone,
}: Omit<Props, 'missing'> & { look: Look; rows: readonly Row[] }) {
  const isSaving = useSignal(false);
  const { range } = question;
  const format = formats();
  const panes: [Pane, IconName, string][] = [
    ['chart', 'chart', reportWords().chart],
    ['groups', 'list', reportWords().groups],
    ['heat', 'calendar', reportWords().heat],
    ['map', 'map', reportWords().map],
  ];
  const shown = paneOf(kind, look, rows);
  return (
    <header class="result-head">
      <div>
        <h2>{titleOfKind(kind.kind)}</h2>
        <small>
          {kind.hasTimeRange
            ? `${format.dateTime(range.fromMs)} – ${format.dateTime(range.toMs)} · ${zone}`
            : summaryOfKind(kind)}
        </small>
      </div>
      <div class="actions">
        <Export
          kind={kind}
          question={question}
          look={look}
          zone={zone}
          isSmall={!pages.hasMore.value && rows.length <= SMALL}
        />
        <button type="button" onClick={() => (isSaving.value = true)}>
          <Icon name="star" /> {reportWords().saveTemplate}
        </button>
        {question.shape === null && (
          <a class="button" href={`${reportLink(question, look)}&list=schedules&schedule=new`}>
            <Icon name="calendar" /> {reportWords().schedule}
          </a>
        )}
      </div>
      <div class="result-tools">
        <fieldset class="panes" aria-label={reportWords().above}>
          {panes
            .filter(([pane]) => hasPane(pane, kind, rows))
            .map(([pane, icon, title]) => (
              <button
                key={pane}
                type="button"
                aria-pressed={shown === pane}
                onClick={() => setQuery({ show: shown === pane ? 'none' : pane })}
              >
                <Icon name={icon} /> <span>{title}</span>
              </button>
            ))}
        </fieldset>
        <Picker
          label={reportWords().columnChoice}
          items={kind.columns.map(({ name }) => ({ id: name, name: titleOfColumn(name) }))}
          chosen={visibleIn(kind, look).map(({ name }) => name)}
          all={reportWords().usualColumns}
          onChange={(names) => setQuery({ columns: names.length === 0 ? null : inOrder(kind, names).join(',') })}
        />
      </div>
      {isSaving.value && (
        <SaveTemplate
          template={templateOf('', question, look)}
          replaces={null}
          onClose={() => (isSaving.value = false)}
        />
      )}
    </header>
  );
}
/** Maximum number of rows of a file that is downloaded at once. */
const SMALL = 1000;
const isMoment = (row: Row) => momentOf(row) !== null && row.startedAt !== undefined;
const hasPlace = (row: Row) => placeOf(row) !== null;

function hasPane(pane: Pane, kind: ReportKind, rows: readonly Row[]): boolean {
  if (pane === 'chart') return true;
  if (pane === 'groups') return kind.groupings.length > 0 && kind.columns.some(({ total }) => total !== null);
  return rows.some(pane === 'heat' ? isMoment : hasPlace);
}

/** The open pane: the chosen one, otherwise the most useful one for the kind. */
function paneOf({ hasTimeRange }: ReportKind, { pane }: Look, rows: readonly Row[]): Pane {
  if (pane !== null) return pane;
  return !hasTimeRange && rows.some(hasPlace) ? 'map' : 'chart';
}

interface ShownProps {
  kind: ReportKind;
  question: Question;
  look: Look;
  rows: readonly Row[];
  chosen: Row | null;
  onChoose: (row: Row) => void;
}

function PaneBox({ kind, question, look, rows, chosen, onChoose }: ShownProps) {
  switch (paneOf(kind, look, rows)) {
    case 'none':
      return null;
    case 'map':
      return rows.some(hasPlace) ? (
        <MapPane rows={rows} question={question} chosen={chosen} onChoose={onChoose} />
      ) : (
        <NothingToDraw />
      );
    case 'groups':
      return <GroupsPane kind={kind} question={question} look={look} />;
    case 'heat':
      return rows.some(isMoment) ? <HeatPane rows={rows} columns={kind.columns} look={look} /> : <NothingToDraw />;
    default: {
      const lines = kind.charts.find(({ shape }) => shape === 'lines');
      const drawn = lines?.measure ?? null;
      return kind.isTrack || lines ? (
        <LinePane rows={rows} columns={kind.columns} look={look} drawn={drawn} onChoose={onChoose} />
      ) : (
        <ChartPane rows={rows} kind={kind} look={look} />
      );
    }
  }
}

function Rows({ kind, question, look, rows, hasMore, chosen, onChoose }: ShownProps & { hasMore: boolean }) {
  const { timeZone } = preferences.value;
  const format = formats();
  const sorting = sortingOf(look.sort);
  const visible = visibleIn(kind, look);
  const lines = useMemo(() => rows.map((row, index): Line => ({ key: String(index), row })), [rows]);
  const total = reportWords()[hasMore ? 'totalOfFirst' : 'totalOfAll'](rows.length);
  const columns = useMemo(() => {
    const hasTotals = visible.some((column) => totalOf(rows, column) !== null);
    const made = visible.map((column, nth) => tableColumn(column, rows, nth === 0 && hasTotals ? total : null));
    if (kind.columns.some(({ name }) => name === 'vehicleId')) return made.toSpliced(1, 0, replayColumn());
    // Rows by driver belong to no single vehicle. One row has the trips without a known driver.
    return made.map((column): Column<Line> => {
      if (column.key !== 'driverName') return column;
      return { ...column, cell: ({ row }) => groupText('driver', row.driverName as string | null) };
    });
  }, [rows, look.columns?.join(), format, total]);
  const shown = useMemo(() => sorted(lines, columns, sorting), [lines, columns, look.sort]);
  function replayColumn(): Column<Line> {
    return {
      key: 'replay',
      title: reportWords().replay,
      cell: ({ row }) => {
        const href = replayLinkOf(row, question, timeZone);
        return href === null ? null : (
          <a href={href} aria-label={`${reportWords().replay}: ${row.vehicleName ?? ''}`}>
            <Icon name="play" />
          </a>
        );
      },
    };
  }
  const current = chosen === null ? null : String(rows.indexOf(chosen));
  return (
    <Table<Line>
      label={titleOfKind(kind.kind)}
      columns={columns}
      rows={shown}
      rowKey={({ key }) => key}
      sorting={sorting}
      onSort={({ key, isDescending }) => setQuery({ sort: `${isDescending ? '-' : ''}${key}` })}
      onOpen={({ row }) => onChoose(row)}
      currentKey={current}
    />
  );
}

function visibleIn({ columns }: ReportKind, { columns: chosen }: Look): ReportColumn[] {
  return columns.filter((column) => (chosen === null ? column.isUsual : chosen.includes(column.name)));
}

function inOrder({ columns }: ReportKind, names: readonly string[]): string[] {
  return columns.map(({ name }) => name).filter((name) => names.includes(name));
}

function sortingOf(sort: string | null): Sorting | null {
  if (sort === null) return null;
  return sort.startsWith('-') ? { key: sort.slice(1), isDescending: true } : { key: sort, isDescending: false };
}

/** @param label label of the totals row, used instead of this column's total */
function tableColumn(column: ReportColumn, rows: readonly Row[], label: string | null): Column<Line> {
  const { name, type, unit } = column;
  const isNumber = type === 'number' || type === 'whole';
  const total = totalOf(rows, column);
  return {
    key: name,
    title: titleOfColumn(name),
    isNumber,
    cell: ({ row }) => textOf(column, row),
    sortBy: ({ row }) => (isNumber ? numberIn(row, name) : row[name] === null ? null : String(row[name] ?? '')),
    ...(label !== null
      ? { total: label }
      : total === null
        ? {}
        : {
            total:
              column.total === 'max' ? reportWords().highest(quantity(name, unit, total)) : quantity(name, unit, total),
          }),
  };
}

function More({ pages, count, isSorted }: { pages: PagedList<Row>; count: number; isSorted: boolean }) {
  const failure = pages.error.value;
  const isLoading = pages.isLoading.value;
  if (!pages.hasMore.value && failure === null) return null;
  const readAll = async () => {
    let known = count;
    while (pages.hasMore.peek() && known < MOST_ROWS) {
      await pages.more();
      const now = pages.items.peek()?.length ?? 0;
      if (now === known) return;
      known = now;
    }
  };
  return (
    <div class="more">
      <span role="status">{reportWords().rowsShown(count)}</span>
      {count < MOST_ROWS ? (
        <>
          <button type="button" disabled={isLoading} onClick={() => void pages.more()}>
            {t().parts.showMore}
          </button>
          <button type="button" disabled={isLoading} onClick={() => void readAll()}>
            {reportWords().showAll}
          </button>
        </>
      ) : (
        <span>{reportWords().tooLong}</span>
      )}
      {isSorted && <small>{reportWords().sortedShown}</small>}
      {failure !== null && <span class="error">{describeError(failure)}</span>}
    </div>
  );
}
