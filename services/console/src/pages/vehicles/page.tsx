import type { Vehicle } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { allPages } from '../../parts/lists/pages.ts';
import '../../style/manage.css';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { STATES } from '../../fleet/fleet.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet, groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { FilterBox } from '../../parts/lists/filter-box.tsx';
import { type PagedList, usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { VehicleIcon } from '../../parts/vehicle-icon.tsx';
import { keepsAccounts } from '../../rights.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import { BulkDialog, type BulkKind } from './bulk-dialog.tsx';
import { dealers, loadDealers } from './dealers.ts';
import { FILTER_NAMES, isFiltered, listQuery, sortingOf, sortText } from './filters.ts';
import { VehicleForm } from './form.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { LiveRows } from './live-rows.ts';
import { MoveDialog, mayMove } from './move.tsx';
import { boundProtocols, loadProtocols, protocolTitle } from './protocols.ts';
import { QuotaLine } from './quota.tsx';
import { vehicleWords } from './words.ts';

const PAGE = 200;
const LARGEST_PAGE = 1000;
/** Delay after the last keystroke. */
const TYPING_MS = 250;

/** Table of vehicles, searched, sorted and filtered by the API, with a form beside it. */
export function VehiclesPage() {
  const { query } = route.value;
  const wanted = JSON.stringify(listQuery(query));
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/vehicles', { query: { ...JSON.parse(wanted), limit: PAGE, ...(cursor && { cursor }) }, signal }),
    [wanted],
  );
  const selection = useSignal<ReadonlySet<string>>(new Set());
  const bulk = useSignal<BulkKind | 'move' | null>(null);
  useEffect(() => {
    Promise.all([loadDealers(), loadProtocols()]).catch((error: unknown) => toast(describeError(error), 'error'));
  }, []);
  useEffect(() => {
    selection.value = new Set();
  }, [wanted, selection]);
  const opened = query.get('vehicle');
  const open = (vehicle: string | null) => navigate(withQuery({ vehicle, video: null, sensors: null, sensor: null }));
  const reload = () => void list.reload();
  return (
    <div class={opened === null ? 'manage' : 'manage open'}>
      <div class="list">
        <Toolbar />
        {selection.value.size > 0 && (
          <ChoiceBar list={list} selection={selection} onChoose={(kind) => (bulk.value = kind)} />
        )}
        <Body list={list} selection={selection} opened={opened} onOpen={open} />
      </div>
      {opened !== null && (
        <VehicleForm
          key={opened}
          id={opened === 'new' ? null : opened}
          onClose={() => open(null)}
          onSaved={(id) => {
            reload();
            setQuery({ vehicle: id });
          }}
        />
      )}
      {bulk.value === 'move' && (
        <MoveDialog
          ids={[...selection.value]}
          onClose={() => (bulk.value = null)}
          onDone={() => {
            bulk.value = null;
            selection.value = new Set();
            reload();
          }}
        />
      )}
      {bulk.value !== null && bulk.value !== 'move' && (
        <BulkDialog
          kind={bulk.value}
          ids={[...selection.value]}
          onClose={() => (bulk.value = null)}
          onChanged={reload}
        />
      )}
      {(query.get('import') === '1' || query.get('import') === 'sensors') && (
        <ImportDialog
          subject={query.get('import') === 'sensors' ? 'sensors' : 'vehicles'}
          onClose={() => setQuery({ import: null })}
          onImported={reload}
        />
      )}
    </div>
  );
}

/** Only operators and dealers add vehicles and assign them to groups. */
function isKeeper(): boolean {
  return Boolean(user.value && keepsAccounts(user.value));
}

function Toolbar() {
  const { query } = route.value;
  const typed = useRef<ReturnType<typeof setTimeout> | null>(null);
  const search = (text: string) => {
    if (typed.current !== null) clearTimeout(typed.current);
    typed.current = setTimeout(() => setQuery({ q: text.trim() }), TYPING_MS);
  };
  const group = query.get('group');
  return (
    <FilterBox kind="toolbar">
      <input
        type="search"
        aria-label={t().search}
        placeholder={t().searchVehicles}
        defaultValue={query.get('q') ?? ''}
        onInput={(event) => search(event.currentTarget.value)}
      />
      <Filter
        name="group"
        label={t().group}
        all={t().allGroups}
        options={groups.value.map(({ id, name }) => [id, name])}
      />
      <Filter
        name="state"
        label={t().state}
        all={vehicleWords().allStates}
        options={STATES.map((state) => [state, t().states[state]])}
      />
      <Filter
        name="protocol"
        label={vehicleWords().protocol}
        all={vehicleWords().allProtocols}
        options={boundProtocols()}
      />
      <Filter
        name="suspended"
        label={t().fleetMap.suspension.filter}
        all={t().fleetMap.suspension.all}
        options={[
          ['true', t().fleetMap.suspension.suspended],
          ['false', t().fleetMap.suspension.inUse],
        ]}
      />
      {dealers.value.length > 0 && (
        <Filter
          name="owner"
          label={vehicleWords().owner}
          all={vehicleWords().allOwners}
          options={[
            ['none', vehicleWords().operatorsOwn],
            ...dealers.value.map(({ id, name }): [string, string] => [id, name]),
          ]}
        />
      )}
      <span class="actions">
        {isKeeper() && (
          <>
            <a class="button primary" href={withQuery({ vehicle: 'new' })}>
              <Icon name="plus" /> {vehicleWords().newVehicle}
            </a>
            <a class="button" href={withQuery({ import: '1' })}>
              <Icon name="upload" /> {vehicleWords().importCsv}
            </a>
          </>
        )}
        <a class="button" href={`/api/v1/vehicles/export${group === null ? '' : `?groupId=${group}`}`} download>
          <Icon name="download" /> {vehicleWords().exportCsv}
        </a>
      </span>
    </FilterBox>
  );
}

interface FilterProps {
  name: 'group' | 'state' | 'protocol' | 'suspended' | 'owner';
  label: string;
  all: string;
  options: readonly (readonly [value: string, word: string])[];
}

function Filter({ name, label, all, options }: FilterProps) {
  const value = route.value.query.get(name) ?? '';
  return (
    <select aria-label={label} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {options.map(([one, word]) => (
        <option key={one} value={one} selected={one === value}>
          {word}
        </option>
      ))}
    </select>
  );
}

interface Chosen {
  value: ReadonlySet<string>;
}

function ChoiceBar({
  list,
  selection,
  onChoose,
}: {
  list: PagedList<Vehicle>;
  selection: Chosen;
  onChoose: (kind: BulkKind | 'move') => void;
}) {
  const isReading = useSignal(false);
  const chooseMatching = async () => {
    isReading.value = true;
    try {
      const query = listQuery(route.peek().query);
      const found = await allPages((cursor) =>
        api.get('/api/v1/vehicles', { query: { ...query, limit: LARGEST_PAGE, ...cursor } }),
      );
      selection.value = new Set(found.map(({ id }) => id));
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isReading.value = false;
    }
  };
  return (
    <section class="choice-bar" aria-label={vehicleWords().chosen(selection.value.size)}>
      <strong role="status">{vehicleWords().chosen(selection.value.size)}</strong>
      {list.hasMore.value && (
        <button type="button" disabled={isReading.value} onClick={chooseMatching}>
          {vehicleWords().chooseMatching}
        </button>
      )}
      <button type="button" onClick={() => onChoose('change')}>
        <Icon name="edit" /> {vehicleWords().changeMany}
      </button>
      {isKeeper() && (
        <>
          <button type="button" onClick={() => onChoose('add')}>
            {vehicleWords().addToGroup}
          </button>
          <button type="button" onClick={() => onChoose('remove')}>
            {vehicleWords().removeFromGroup}
          </button>
        </>
      )}
      {mayMove() && (
        <button type="button" onClick={() => onChoose('move')}>
          {vehicleWords().move.button}
        </button>
      )}
      <button type="button" onClick={() => (selection.value = new Set())}>
        {vehicleWords().clearChoice}
      </button>
    </section>
  );
}

interface BodyProps {
  list: PagedList<Vehicle>;
  selection: Chosen;
  opened: string | null;
  onOpen: (id: string) => void;
}

function Body({ list, selection, opened, onOpen }: BodyProps) {
  const items = list.items.value;
  if (list.error.value !== null)
    return (
      <Message
        icon="warning"
        title={describeError(list.error.value)}
        action={t().retry}
        onAction={() => void list.reload()}
      />
    );
  if (items === null) return <Message title={t().loading} />;
  if (items.length === 0) {
    if (isFiltered(route.value.query))
      return (
        <Message
          icon="search"
          title={t().nothingFound}
          action={vehicleWords().clearFilters}
          onAction={() => setQuery(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
        />
      );
    return (
      <Message icon="truck" title={vehicleWords().none} hint={vehicleWords().noneHint}>
        <a class="button" href="/terminals">
          {vehicleWords().toTerminals}
        </a>
      </Message>
    );
  }
  return (
    <>
      <p class="count">
        <span role="status">
          {list.hasMore.value ? vehicleWords().countAtLeast(items.length) : vehicleWords().count(items.length)}
        </span>
        <QuotaLine />
      </p>
      <VehicleTable list={list} items={items} selection={selection} opened={opened} onOpen={onOpen} />
    </>
  );
}

function VehicleTable({ list, items, selection, opened, onOpen }: BodyProps & { items: readonly Vehicle[] }) {
  // The current data of vehicles comes from the live API.
  void fleet.version.value;
  const live = useMemo(() => new LiveRows(), [list]);
  const groupNames = new Map(groups.value.map(({ id, name }) => [id, name]));
  return (
    <Table
      label={vehicleWords().title}
      rows={live.of(items, fleet)}
      rowKey={({ id }) => id}
      columns={columns(groupNames)}
      sorting={sortingOf(route.value.query)}
      onSort={(sorting) => setQuery({ sort: sortText(sorting) })}
      onOpen={({ id }) => onOpen(id)}
      onEnd={() => void list.more()}
      currentKey={opened}
      selection={selection.value}
      onSelect={(chosen) => (selection.value = chosen)}
    />
  );
}

function columns(groupNames: ReadonlyMap<string, string>): Column<Vehicle>[] {
  const vehicles = vehicleWords();
  const all: (Column<Vehicle> | null)[] = [
    {
      key: 'name',
      title: vehicles.fields.name,
      sortBy: ({ name }) => name,
      cell: ({ name, icon, color }) => (
        <>
          <VehicleIcon name={icon} color={color} /> <bdi>{name}</bdi>
        </>
      ),
    },
    { key: 'plate', title: vehicles.plate, sortBy: ({ plate }) => plate, cell: ({ plate }) => plate ?? '' },
    {
      key: 'state',
      title: vehicles.state,
      cell: ({ id, suspension }) => {
        if (suspension !== null)
          return (
            <span class="chip suspended" title={suspension.reason}>
              {t().fleetMap.suspension.suspended}
            </span>
          );
        const index = fleet.indexOf(id);
        const state = index < 0 ? 'unknown' : fleet.stateOf(index);
        return <span class={`chip ${state}`}>{stateName(state)}</span>;
      },
    },
    {
      key: 'contact',
      title: vehicles.lastContact,
      cell: ({ id }) => {
        const contactMs = fleet.contactMs[fleet.indexOf(id)] ?? 0;
        return contactMs === 0 ? t().never : formats().ago((Date.now() - contactMs) / 1000);
      },
    },
    {
      key: 'driver',
      title: driverWords().driver,
      cell: ({ id }) => {
        const driver = fleet.drivingOf(id)?.driver;
        return driver ? (
          <a href={`/drivers?driver=${driver.id}`}>
            <bdi>{driver.name}</bdi>
          </a>
        ) : (
          ''
        );
      },
    },
    {
      key: 'terminalId',
      title: vehicles.terminal,
      sortBy: ({ terminalId }) => terminalId,
      cell: ({ terminalId }) => terminalId ?? '',
    },
    {
      key: 'protocol',
      title: vehicles.protocol,
      cell: ({ terminalId, terminalAccess }) => (terminalId === null ? '' : protocolTitle(terminalAccess.protocol)),
    },
    {
      key: 'groups',
      title: vehicles.groups,
      cell: ({ groupIds }) =>
        joined(
          groupIds.map((id) => groupNames.get(id)),
          ', ',
        ),
    },
    user.value?.role === 'operator' && dealers.value.length > 0
      ? {
          key: 'owner',
          title: vehicles.owner,
          cell: ({ dealerId }) =>
            dealerId === null ? vehicles.operatorsOwn : (dealers.value.find(({ id }) => id === dealerId)?.name ?? ''),
        }
      : null,
  ];
  return all.filter((column) => column !== null);
}
