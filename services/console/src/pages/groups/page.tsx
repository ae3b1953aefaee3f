import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { groupWords } from './words.ts';
import '../../style/manage.css';
import { describeError } from '../../errors.ts';
import { fleet, groups, loadDefinitions, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { type Column, type Sorting, sorted, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { t } from '../../words/words.ts';
import { dealers, loadDealers } from '../vehicles/dealers.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { GroupPanel } from './panel.tsx';

interface Row {
  id: string;
  name: string;
  owner: string;
  vehicles: number;
}

/** Groups of vehicles: their members, and who may see them. */
export function GroupsPage() {
  const { query } = route.value;
  const sorting = useSignal<Sorting | null>(null);
  useEffect(() => {
    loadDealers().catch((error: unknown) => toast(describeError(error), 'error'));
  }, []);
  void fleet.version.value;
  const opened = query.get('group');
  const open = (group: string | null) => navigate(withQuery({ group }));
  const rows = rowsOf((query.get('q') ?? '').trim().toLowerCase());
  return (
    <div class={opened === null ? 'manage' : 'manage open'}>
      <div class="list">
        <search class="toolbar">
          <SearchField placeholder={groupWords().searchGroups} value={query.get('q')} />
          <span class="actions">
            <a class="button primary" href={withQuery({ group: 'new' })}>
              <Icon name="plus" /> {groupWords().newGroup}
            </a>
          </span>
        </search>
        {rows.length > 0 ? (
          <Table
            label={vehicleWords().groups}
            rows={sorted(rows, columns(), sorting.value)}
            rowKey={({ id }) => id}
            columns={columns()}
            sorting={sorting.value}
            onSort={(wanted) => (sorting.value = wanted)}
            onOpen={({ id }) => open(id)}
            currentKey={opened}
          />
        ) : (
          <Nothing />
        )}
      </div>
      {opened !== null && (
        <GroupPanel
          key={opened}
          id={opened === 'new' ? null : opened}
          onClose={() => open(null)}
          onSaved={(id) => setQuery({ group: id })}
        />
      )}
    </div>
  );
}

/** Table rows of the groups, with the number of vehicles of each that the caller sees. */
function rowsOf(search: string): Row[] {
  const counts = new Map<string, number>();
  for (const { groupIds } of fleet.vehicles) for (const id of groupIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  const ownerOf = (dealerId: string | null) =>
    dealerId === null ? vehicleWords().operatorsOwn : (dealers.value.find(({ id }) => id === dealerId)?.name ?? '');
  return groups.value
    .filter(({ name }) => name.toLowerCase().includes(search))
    .map(({ id, name, dealerId }) => ({ id, name, owner: ownerOf(dealerId), vehicles: counts.get(id) ?? 0 }));
}

function columns(): Column<Row>[] {
  const { fields, owner, title } = vehicleWords();
  const all: Column<Row>[] = [
    { key: 'name', title: fields.name, sortBy: ({ name }) => name, cell: ({ name }) => name },
    {
      key: 'vehicles',
      title,
      isNumber: true,
      sortBy: ({ vehicles }) => vehicles,
      cell: ({ vehicles }) => formats().number(vehicles),
    },
  ];
  if (dealers.value.length > 0)
    all.push({ key: 'owner', title: owner, sortBy: (row) => row.owner, cell: (row) => row.owner });
  return all;
}

function Nothing() {
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
  if (groups.value.length > 0)
    return (
      <Message
        icon="search"
        title={groupWords().nothingFound}
        action={vehicleWords().clearFilters}
        onAction={() => setQuery({ q: null })}
      />
    );
  return <Message icon="group" title={groupWords().none} hint={groupWords().noneHint} />;
}
