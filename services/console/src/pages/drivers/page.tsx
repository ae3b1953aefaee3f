import type { Driver } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SearchField } from '../../parts/lists/search-field.tsx';
import '../../style/manage.css';
import '../../style/drivers.css';
import {
  drivers,
  driversError,
  forgetDrivers,
  loadDrivers,
  loadUnknownCodes,
  rereadDrivers,
  unknownCodes,
} from '../../drivers/drivers.ts';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { fleet, groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { FilterBox } from '../../parts/lists/filter-box.tsx';
import { type Column, type Sorting, sorted, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { keepsAccounts } from '../../rights.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { user } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import { dealers, loadDealers } from '../vehicles/dealers.ts';
import { ImportDialog } from '../vehicles/import-dialog.tsx';
import { vehicleWords } from '../vehicles/words.ts';
import { AssignDialog } from './assign-dialog.tsx';
import { Assignments } from './assignments.tsx';
import { UnknownCodes } from './codes.tsx';
import { LicenceChip } from './licence.tsx';
import { driverFilterOf, isFiltered, LICENCES, passesDriver } from './list.ts';
import { DriverPanel } from './panel.tsx';

const VIEWS = ['list', 'codes', 'assignments'] as const;
type View = (typeof VIEWS)[number];

/** Drivers, their codes, and their assignments. */
export function DriversPage() {
  const { query } = route.value;
  const keeps = Boolean(user.value && keepsAccounts(user.value));
  /** Grows with each assignment that is created here. */
  const version = useSignal(0);
  useEffect(() => {
    void loadDrivers();
    const quietly = (error: unknown) => toast(describeError(error), 'error');
    loadDealers().catch(quietly);
    if (keeps) loadUnknownCodes().catch(quietly);
  }, [keeps]);
  const view: View = VIEWS.find((one) => one === query.get('view') && (keeps || one !== 'codes')) ?? 'list';
  const opened = query.get('driver');
  const open = (driver: string | null) => navigate(withQuery({ driver, tab: null, day: null, code: null }));
  return (
    <div class={opened === null ? 'manage' : 'manage open'}>
      <div class="list">
        <ViewLinks view={view} keeps={keeps} />
        {view === 'list' && <DriverList opened={opened} onOpen={open} keeps={keeps} />}
        {view === 'codes' && <UnknownCodes />}
        {view === 'assignments' && <Assignments driverId={null} version={version.value} />}
      </div>
      {opened !== null && (
        <DriverPanel
          key={opened}
          id={opened === 'new' ? null : opened}
          version={version.value}
          onClose={() => open(null)}
          onSaved={(id) => {
            void rereadDrivers();
            if (keeps) loadUnknownCodes().catch(() => {});
            setQuery({ driver: id, code: null, tab: null });
          }}
        />
      )}
      {keeps && query.get('import') === '1' && (
        <ImportDialog
          subject="drivers"
          onClose={() => setQuery({ import: null })}
          onImported={() => void Promise.allSettled([rereadDrivers(), loadUnknownCodes()])}
        />
      )}
      {keeps && query.get('assign') === '1' && (
        <AssignDialog
          driverId={opened === 'new' ? null : opened}
          vehicleId={query.get('vehicle')}
          onClose={() => setQuery({ assign: null, vehicle: null })}
          onAssigned={() => {
            version.value += 1;
            setQuery({ assign: null, vehicle: null });
          }}
        />
      )}
    </div>
  );
}

function ViewLinks({ view, keeps }: { view: View; keeps: boolean }) {
  const count = unknownCodes.value?.length ?? 0;
  return (
    <nav class="driver-tabs" aria-label={t().pages.drivers}>
      {VIEWS.filter((one) => keeps || one !== 'codes').map((one) => (
        <a
          key={one}
          href={withQuery({ view: one === 'list' ? null : one, code: null, driver: null })}
          aria-current={one === view ? 'page' : undefined}
        >
          {driverWords().views[one]}
          {one === 'codes' && count > 0 && <span class="badge">{formats().number(count)}</span>}
        </a>
      ))}
    </nav>
  );
}

interface ListProps {
  opened: string | null;
  onOpen: (id: string) => void;
  keeps: boolean;
}

function DriverList({ opened, onOpen, keeps }: ListProps) {
  const sorting = useSignal<Sorting | null>(null);
  const filter = driverFilterOf(route.value.query);
  // The drivers of vehicles come from the live API.
  void fleet.version.value;
  const all = drivers.value;
  const found = all?.filter((driver) => passesDriver(driver, filter)) ?? [];
  const shown = columns();
  return (
    <>
      <Toolbar keeps={keeps} />
      {filter.licence === null && <LicenceWarning all={all ?? []} />}
      {all === null || found.length === 0 ? (
        <Nothing hasFilter={isFiltered(filter)} keeps={keeps} />
      ) : (
        <>
          <p class="count" role="status">
            {driverWords().count(found.length)}
          </p>
          <Table
            label={t().pages.drivers}
            rows={sorted(found, shown, sorting.value)}
            rowKey={({ id }) => id}
            columns={shown}
            sorting={sorting.value}
            onSort={(wanted) => (sorting.value = wanted)}
            onOpen={({ id }) => onOpen(id)}
            currentKey={opened}
          />
        </>
      )}
    </>
  );
}

/** Lists the drivers whose licence needs attention. */
function LicenceWarning({ all }: { all: readonly Driver[] }) {
  const words = driverWords();
  const count = (wanted: Driver['licence']) => all.filter(({ licence }) => licence === wanted).length;
  const [expired, soon] = [count('expired'), count('expires-soon')];
  if (expired + soon === 0) return null;
  return (
    <p class="licence-warning">
      <Icon name="warning" />
      {expired > 0 && <a href={withQuery({ licence: 'expired' })}>{words.licencesExpired(expired)}</a>}
      {soon > 0 && <a href={withQuery({ licence: 'expires-soon' })}>{words.licencesExpireSoon(soon)}</a>}
    </p>
  );
}

function Toolbar({ keeps }: { keeps: boolean }) {
  const { query } = route.value;
  const words = driverWords();
  const { groupId, licence } = driverFilterOf(query);
  return (
    <FilterBox kind="toolbar">
      <SearchField placeholder={words.search} value={query.get('q')} />
      {groups.value.length > 1 && (
        <select
          aria-label={t().group}
          value={groupId ?? ''}
          onChange={(event) => setQuery({ group: event.currentTarget.value })}
        >
          <option value="">{t().allGroups}</option>
          {groups.value.map(({ id, name }) => (
            <option key={id} value={id} selected={id === groupId}>
              {name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={words.licence}
        value={licence ?? ''}
        onChange={(event) => setQuery({ licence: event.currentTarget.value })}
      >
        <option value="">{words.allLicences}</option>
        {LICENCES.map((one) => (
          <option key={one} value={one} selected={one === licence}>
            {words.licences[one]}
          </option>
        ))}
      </select>
      {keeps && (
        <span class="actions">
          <a class="button primary" href={withQuery({ driver: 'new', tab: null })}>
            <Icon name="plus" /> {words.newDriver}
          </a>
          <a class="button" href={withQuery({ import: '1' })}>
            <Icon name="upload" /> {vehicleWords().importCsv}
          </a>
          <a class="button" href="/api/v1/drivers/export" download>
            <Icon name="download" /> {vehicleWords().exportCsv}
          </a>
        </span>
      )}
    </FilterBox>
  );
}

function columns(): Column<Driver>[] {
  const words = driverWords();
  const driven = fleet.vehiclesByDriver();
  const names = new Map(groups.value.map(({ id, name }) => [id, name]));
  const all: Column<Driver>[] = [
    { key: 'name', title: words.fields.name, sortBy: ({ name }) => name, cell: ({ name }) => name },
    {
      key: 'vehicle',
      title: words.drivesNow,
      sortBy: ({ id }) => driven.get(id)?.name ?? null,
      cell: ({ id }) => {
        const vehicle = driven.get(id);
        return vehicle === undefined ? (
          ''
        ) : (
          <a href={`/?vehicle=${vehicle.id}`}>
            <bdi>{vehicle.name}</bdi>
          </a>
        );
      },
    },
    {
      key: 'licence',
      title: words.licence,
      sortBy: ({ licenceExpiresOn }) => licenceExpiresOn,
      cell: (driver) => <LicenceChip driver={driver} hasDate />,
    },
    { key: 'phone', title: words.fields.phone, cell: ({ phone }) => phone && <bdi>{phone}</bdi> },
    {
      key: 'codes',
      title: words.fields.codes,
      cell: ({ codes }) => <bdi>{codes.join(', ')}</bdi>,
    },
    {
      key: 'groups',
      title: words.fields.groupIds,
      cell: ({ groupIds }) =>
        joined(
          groupIds.map((id) => names.get(id)),
          ', ',
        ),
    },
  ];
  if (user.value?.role === 'operator' && dealers.value.length > 0)
    all.push({
      key: 'owner',
      title: words.fields.dealerId,
      cell: ({ dealerId }) =>
        dealerId === null ? vehicleWords().operatorsOwn : (dealers.value.find(({ id }) => id === dealerId)?.name ?? ''),
    });
  return all;
}

function Nothing({ hasFilter, keeps }: { hasFilter: boolean; keeps: boolean }) {
  const words = driverWords();
  if (driversError.value !== null)
    return (
      <Message
        icon="warning"
        title={describeError(driversError.value)}
        action={t().retry}
        onAction={() => {
          forgetDrivers();
          void loadDrivers();
        }}
      />
    );
  if (drivers.value === null) return <Message title={t().loading} />;
  if (hasFilter && drivers.value.length > 0)
    return (
      <Message
        icon="search"
        title={words.nothingFound}
        action={vehicleWords().clearFilters}
        onAction={() => setQuery({ q: null, group: null, licence: null })}
      />
    );
  return <Message icon="driver" title={words.none} hint={keeps ? words.noneHint : words.noneHintUser} />;
}
