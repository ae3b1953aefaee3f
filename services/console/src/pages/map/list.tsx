import type { Vehicle } from '@outrider/client';
import { useComputed, useSignalEffect } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { ageOf } from '../../fleet/age.ts';
import { STATES, type State } from '../../fleet/fleet.ts';
import { countStates, type Filter, listed, passes, SORTS, type Sort } from '../../fleet/listing.ts';
import { isStateLoading, stateName } from '../../fleet/state-name.ts';
import { fleet, groups, loadDefinitions, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { FilterBox } from '../../parts/lists/filter-box.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { placed, VirtualList } from '../../parts/lists/virtual-list.tsx';
import { lazy } from '../../parts/loading/lazy.tsx';
import { Message } from '../../parts/message.tsx';
import { Popover } from '../../parts/popover.tsx';
import { VehicleIcon } from '../../parts/vehicle-icon.tsx';
import { change, preferences } from '../../preferences.ts';
import { route, setQuery } from '../../router.ts';
import { language, t } from '../../words/words.ts';
import { type Column, shownColumns, WIDTHS } from './columns.ts';
import { NoVehicles } from './no-vehicles.tsx';
import { Trouble } from './trouble.tsx';

const ColumnMenu = lazy(async () => (await import('./column-menu.tsx')).ColumnMenu);

const ROW_REM = 3.75;
/** 36 pixels at the default text size. */
const COMPACT_ROW_REM = 2.25;
const SHOWN_STATES: readonly State[] = ['moving', 'idling', 'parking', 'offline', 'unknown'];

/** Parses the filter in the address. */
function filterOf(query: URLSearchParams): Filter {
  const state = query.get('state');
  return {
    search: (query.get('q') ?? '').trim().toLowerCase(),
    groupId: query.get('group'),
    state: STATES.find((known) => known === state) ?? null,
    only: query.get('favourites') === '1' ? new Set(preferences.value.favourites) : null,
  };
}

/** Vehicles beside the map, also for those who cannot see a map: search, groups, states, order, favourites. */
export function VehicleList({ selected, onSelect }: { selected: string | null; onSelect: (id: string) => void }) {
  const filterKey = useComputed(() => {
    const filter = filterOf(route.value.query);
    return JSON.stringify({ ...filter, only: filter.only === null ? null : [...filter.only] });
  });
  useSignalEffect(() => {
    void filterKey.value;
    void fleet.version.value;
    const filter = filterOf(route.peek().query);
    fleet.setShown((index) => passes(fleet, index, filter));
  });
  void fleet.version.value;
  const { query } = route.value;
  const filter = filterOf(query);
  const sort = SORTS.find((known) => known === query.get('sort')) ?? 'name';
  // Sorting 10,000 names takes long, so it waits until all are loaded.
  const indexes = loaded.value === null ? [] : listed(fleet, filter, sort, language.value);
  const isCompact = preferences.value.compactList;
  const widths = shownColumns().map((column) => `minmax(0, ${WIDTHS[column]}rem)`);
  return (
    <section
      class={isCompact ? 'side compact' : 'side'}
      style={{ '--columns': widths.join(' ') }}
      aria-label={t().vehicleList}
    >
      <Filters filter={filter} sort={sort} />
      {isCompact && <Heads />}
      <ListBody indexes={indexes} selected={selected} onSelect={onSelect} />
    </section>
  );
}

function Filters({ filter, sort }: { filter: Filter; sort: Sort }) {
  const counts = countStates(fleet, filter);
  const isFavourites = filter.only !== null;
  return (
    <FilterBox kind="filters">
      <div class="row">
        <SearchField placeholder={t().searchVehicles} value={route.value.query.get('q')} />
        <button
          type="button"
          class="icon favourite"
          aria-pressed={isFavourites}
          aria-label={t().favouritesOnly}
          title={t().favouritesOnly}
          onClick={() => setQuery({ favourites: isFavourites ? null : '1' })}
        >
          <Icon name="star" filled={isFavourites} />
        </button>
        <button
          type="button"
          class="icon columns-button"
          popovertarget="list-columns"
          aria-label={t().fleetMap.columns.title}
          title={t().fleetMap.columns.title}
        >
          <Icon name="rows" />
        </button>
        <Popover id="list-columns" kind="columns" content={ColumnMenu} />
      </div>
      <div class="row">
        {groups.value.length > 1 && (
          <select
            aria-label={t().group}
            value={filter.groupId ?? ''}
            onChange={(event) => setQuery({ group: event.currentTarget.value })}
          >
            <option value="">{t().allGroups}</option>
            {groups.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <select
          aria-label={t().sortBy}
          value={sort}
          onChange={(event) =>
            setQuery({ sort: event.currentTarget.value === 'name' ? null : event.currentTarget.value })
          }
        >
          {SORTS.map((one) => (
            <option key={one} value={one}>
              {t().sorts[one]}
            </option>
          ))}
        </select>
      </div>
      <States filter={filter} counts={counts} />
    </FilterBox>
  );
}

/** The colours of the states with their counts. Each button filters list and map by its state. */
function States({ filter, counts }: { filter: Filter; counts: Record<State, number> }) {
  return (
    <div class="states">
      {SHOWN_STATES.filter((state) => (!isStateLoading(state) && counts[state] > 0) || filter.state === state).map(
        (state) => (
          <button
            key={state}
            type="button"
            aria-pressed={filter.state === state}
            onClick={() => setQuery({ state: filter.state === state ? null : state })}
          >
            <span class={`chip ${state}`}>
              {t().states[state]} {formats().number(counts[state])}
            </span>
          </button>
        ),
      )}
    </div>
  );
}

/** The colours only, shown while the list is hidden. */
export function MapLegend() {
  void fleet.version.value;
  const filter = filterOf(route.value.query);
  return (
    <section class="legend" aria-label={t().fleetMap.legend}>
      <States filter={filter} counts={countStates(fleet, filter)} />
    </section>
  );
}

interface BodyProps {
  indexes: readonly number[];
  selected: string | null;
  onSelect: (id: string) => void;
}

function ListBody({ indexes, selected, onSelect }: BodyProps) {
  if (loaded.value instanceof Error)
    return (
      <Message
        icon="warning"
        title={describeError(loaded.value)}
        action={t().retry}
        onAction={() => void loadDefinitions()}
      />
    );
  if (loaded.value === null) return <Message title={t().loading} />;
  if (fleet.count === 0) return <NoVehicles />;
  if (indexes.length === 0)
    return (
      <Message
        icon="search"
        title={t().nothingFound}
        action={t().clearFilter}
        onAction={() => setQuery({ q: null, group: null, state: null, favourites: null })}
      />
    );
  return (
    <VirtualList
      label={t().vehicleList}
      count={indexes.length}
      rowRem={rowRem()}
      row={(place) => (
        <Row
          key={fleet.vehicles[indexes[place] ?? 0]?.id}
          index={indexes[place] ?? 0}
          count={indexes.length}
          {...{ place, selected, onSelect }}
        />
      )}
    />
  );
}

function rowRem(): number {
  return preferences.value.compactList ? COMPACT_ROW_REM : ROW_REM;
}

interface RowProps {
  index: number;
  /** Position in the list. */
  place: number;
  count: number;
  selected: string | null;
  onSelect: (id: string) => void;
}

function Row({ index, place, count, selected, onSelect }: RowProps) {
  // Subscribes by itself: a row with unchanged properties is not rendered again with the list.
  void fleet.version.value;
  const vehicle = fleet.vehicles[index];
  if (vehicle === undefined) return null;
  const { favourites } = preferences.value;
  const isFavourite = favourites.includes(vehicle.id);
  const toggle = () =>
    change({ favourites: isFavourite ? favourites.filter((id) => id !== vehicle.id) : [...favourites, vehicle.id] });
  return (
    <li class="vehicle" {...placed(place, count, rowRem())} aria-current={vehicle.id === selected ? 'true' : undefined}>
      <button type="button" onClick={() => onSelect(vehicle.id)}>
        <strong>
          {vehicle.icon !== null && <VehicleIcon name={vehicle.icon} color={vehicle.color} />}
          <bdi>{vehicle.name}</bdi>
        </strong>
        {preferences.value.compactList ? oneLine(index) : twoLines(index)}
      </button>
      <button
        type="button"
        class="icon favourite"
        aria-pressed={isFavourite}
        aria-label={`${t().favourite}: ${vehicle.name}`}
        onClick={toggle}
      >
        {/* A letter, not an SVG: software rendering redraws each path for each row that scrolls in. */}
        <span aria-hidden="true">{isFavourite ? '★' : '☆'}</span>
      </button>
    </li>
  );
}

// Functions, not components: a component is rendered again only when its properties change, not when the fleet does.

/** Columns aligned across all rows. The state is shown by its colour, with its name for screen readers. */
function oneLine(index: number) {
  return (
    <>
      {marks(index)}
      {shownColumns().map((column) =>
        isText(column) ? (
          <TextCell key={column} text={textOf(column, index)} />
        ) : (
          <span key={column} class={column}>
            {figure(column, index)}
          </span>
        ),
      )}
    </>
  );
}

function twoLines(index: number) {
  const columns = shownColumns();
  return (
    <>
      <span class="end">{columns.includes('speed') && figure('speed', index)}</span>
      <small>
        {marks(index)}
        {columns
          .filter(isText)
          .map((column) => textOf(column, index))
          .map((text) =>
            text === null ? null : (
              <>
                {' · '}
                <bdi>{text}</bdi>
              </>
            ),
          )}
      </small>
      <small class="end">
        {columns.includes('fuel') && figure('fuel', index)}
        {columns.includes('contact') && figure('contact', index)}
      </small>
    </>
  );
}

function marks(index: number) {
  const { suspension } = fleet.vehicles[index] as Vehicle;
  const state = fleet.stateOf(index);
  return (
    <span class="marks">
      {suspension === null ? (
        <span class={`chip ${state}`}>{stateName(state)}</span>
      ) : (
        <span class="chip suspended" title={suspension.reason}>
          {t().fleetMap.suspension.suspended}
        </span>
      )}
      <Trouble index={index} />
    </span>
  );
}

type TextColumn = Extract<Column, 'plate' | 'driver' | 'groups'>;

function isText(column: Column): column is TextColumn {
  return column === 'plate' || column === 'driver' || column === 'groups';
}

/** Null where there is nothing to show. */
function textOf(column: TextColumn, index: number): string | null {
  const vehicle = fleet.vehicles[index] as Vehicle;
  if (column === 'plate') return vehicle.plate || null;
  if (column === 'driver') return fleet.drivingOf(vehicle.id)?.driver?.name ?? null;
  return groupsOf(vehicle);
}

/** The title has the full text, in case it is truncated. */
function TextCell({ text }: { text: string | null }) {
  return (
    <small class="text" title={text ?? undefined}>
      {text !== null && <bdi>{text}</bdi>}
    </small>
  );
}

function figure(column: Exclude<Column, TextColumn>, index: number) {
  if (column === 'fuel') return <Tank percent={fleet.tankOf(fleet.vehicles[index]?.id ?? '')} />;
  if (column === 'contact') return <span class={fleet.overdue[index] === 1 ? 'late' : undefined}>{ageOf(index)}</span>;
  const speed = fleet.speedKmh[index] ?? Number.NaN;
  return <>{fleet.stateOf(index) === 'moving' && !Number.isNaN(speed) ? formats().speed(speed) : ''}</>;
}

/** Names of the vehicle's groups; null if it is in no group that the user sees. */
function groupsOf({ groupIds }: Vehicle): string | null {
  const own = groups.value.filter(({ id }) => groupIds.includes(id)).map(({ name }) => name);
  return own.length === 0 ? null : own.join(', ');
}

/** Column headings of the list with one line per vehicle. */
function Heads() {
  return (
    <p class="heads" aria-hidden="true">
      <span>{t().pages.vehicles}</span>
      {shownColumns().map((column) => (
        <span key={column} class={column}>
          {t().fleetMap.columns[column]}
        </span>
      ))}
    </p>
  );
}

/** Fill level in percent below which a tank is shown as low. */
const LOW_PERCENT = 15;

/** Fill level of the tank; empty for a vehicle without a known one. */
function Tank({ percent }: { percent: number | null }) {
  if (percent === null) return null;
  const text = `${t().fuel} ${formats().number(percent, 0)} %`;
  return (
    <span class={percent < LOW_PERCENT ? 'fill low' : 'fill'} role="img" aria-label={text} title={text}>
      <span style={{ inlineSize: `${Math.min(100, Math.max(0, percent))}%` }} />
    </span>
  );
}
