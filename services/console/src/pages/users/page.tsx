import type { User } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message, NoneFound } from '../../parts/message.tsx';
import { isOperator } from '../../rights.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user as me } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import '../../style/list-page.css';
import { dealers, loadDealers } from './dealers.ts';
import { UserPanel } from './panel.tsx';
import { StateChip } from './state-chip.tsx';
import { userWords } from './words.ts';

const PAGE = 200;
const ROLES = ['operator', 'dealer', 'user'] as const;
type Sort = 'login' | '-login' | 'name' | '-name';
const SORTS: readonly string[] = ['login', '-login', 'name', '-name'] satisfies Sort[];

/**
 * Accounts: a list with search, and one account in a panel. The address has search, filters, order and the open
 * account.
 */
export function UsersPage() {
  const { query } = route.value;
  const [q, role, blocked, open] = ['q', 'role', 'blocked', 'user'].map((name) => query.get(name) ?? '');
  const sort = SORTS.includes(query.get('sort') ?? '') ? (query.get('sort') as Sort) : 'login';
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/users', {
        query: {
          limit: PAGE,
          sort,
          ...(q?.trim() ? { q: q.trim() } : {}),
          ...(ROLES.includes(role as User['role']) ? { role: role as User['role'] } : {}),
          ...(blocked === 'true' || blocked === 'false' ? { blocked } : {}),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      }),
    [q, role, blocked, sort],
  );
  const isOperated = me.value ? isOperator(me.value) : false;
  useEffect(() => {
    if (isOperated) void loadDealers();
  }, [isOperated]);
  const changes = live.changes.value;
  useEffect(() => {
    if (changes.some(({ kind }) => kind === 'user')) void list.reload();
  }, [changes]);
  const show = (id: string | null) => navigate(withQuery({ user: id }));
  return (
    <div class={open ? 'list-page with-panel' : 'list-page'}>
      <div class="list">
        <Filters q={q ?? ''} role={role ?? ''} blocked={blocked ?? ''} onNew={() => show('new')} />
        <List
          list={list}
          sort={sort}
          current={open || null}
          onOpen={(id) => show(id)}
          isFiltered={`${q}${role}${blocked}` !== ''}
        />
      </div>
      {open && (
        <UserPanel
          key={open}
          id={open}
          onClose={() => show(null)}
          onSaved={(id) => {
            void list.reload();
            if (id !== undefined) show(id);
          }}
        />
      )}
    </div>
  );
}

function Filters({ q, role, blocked, onNew }: { q: string; role: string; blocked: string; onNew: () => void }) {
  const words = userWords();
  return (
    <search class="filter-row">
      <SearchField placeholder={words.search} value={q} />
      <select aria-label={words.role} value={role} onChange={(event) => setQuery({ role: event.currentTarget.value })}>
        <option value="">{words.allRoles}</option>
        {ROLES.map((one) => (
          <option key={one} value={one} selected={one === role}>
            {words.roles[one]}
          </option>
        ))}
      </select>
      <select
        aria-label={t().state}
        value={blocked}
        onChange={(event) => setQuery({ blocked: event.currentTarget.value })}
      >
        <option value="">{words.allStates}</option>
        <option value="false" selected={blocked === 'false'}>
          {words.active}
        </option>
        <option value="true" selected={blocked === 'true'}>
          {words.blocked}
        </option>
      </select>
      <button type="button" class="primary" onClick={onNew}>
        <Icon name="plus" /> {words.new}
      </button>
    </search>
  );
}

interface ListProps {
  list: ReturnType<typeof usePages<User>>;
  sort: Sort;
  current: string | null;
  isFiltered: boolean;
  onOpen: (id: string) => void;
}

function List({ list, sort, current, isFiltered, onOpen }: ListProps) {
  const words = userWords();
  const empty = isFiltered ? (
    <NoneFound showAll={words.showAll} asked={['q', 'role', 'blocked']} />
  ) : (
    <Message icon="users" title={words.empty} hint={words.emptyHint} />
  );
  return (
    <Paged list={list} empty={empty}>
      {(items) => (
        <Table
          label={words.title}
          columns={columns()}
          rows={items}
          rowKey={({ id }) => id}
          sorting={{ key: sort.replace('-', ''), isDescending: sort.startsWith('-') }}
          onSort={({ key, isDescending }) => setQuery({ sort: isDescending ? `-${key}` : key })}
          onOpen={({ id }) => onOpen(id)}
          currentKey={current}
        />
      )}
    </Paged>
  );
}

function columns(): Column<User>[] {
  const words = userWords();
  const names = new Map(groups.value.map(({ id, name }) => [id, name]));
  const groupText = ({ groupIds }: User) => {
    const known = groupIds.map((id) => names.get(id)).filter((name) => name !== undefined);
    return known.length > 2
      ? `${joined(known.slice(0, 2), ', ')} +${formats().number(known.length - 2)}`
      : joined(known, ', ');
  };
  const all: Column<User>[] = [
    { key: 'login', title: t().login, cell: ({ login }) => login, sortBy: ({ login }) => login },
    { key: 'name', title: userWords().name, cell: ({ name }) => name, sortBy: ({ name }) => name },
    { key: 'role', title: words.role, cell: ({ role }) => words.roles[role] },
    { key: 'state', title: t().state, cell: ({ blocked }) => <StateChip isBlocked={blocked} /> },
    { key: 'groups', title: words.groups, cell: groupText },
    { key: 'api', title: words.api, cell: ({ apiAccess }) => (apiAccess ? words.yes : '') },
  ];
  if (me.value && isOperator(me.value))
    all.splice(3, 0, {
      key: 'dealer',
      title: words.dealer,
      cell: ({ dealerId }) => dealers.value.find(({ id }) => id === dealerId)?.name ?? '',
    });
  return all;
}
