import type { NotificationRule } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { newest } from '../../notifications.ts';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { allPages, usePages } from '../../parts/lists/pages.ts';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { type Column, type Sorting, sorted, Table } from '../../parts/lists/table.tsx';
import { Message, NoneFound } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { isOperator } from '../../rights.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user as me } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import { channelWords } from '../me/channel-words.ts';
import '../../style/list-page.css';
import '../../style/rules.css';
import { Sections } from '../notifications/sections.tsx';
import { isLicenceRule } from './draft.ts';
import { kindName } from './kind-name.ts';
import { RulePanel } from './panel.tsx';
import { ruleWords } from './words.ts';

const PAGE = 1000;

/**
 * Notification rules: a list, and one rule in a panel. The address has search, order, owner filter, and the open rule.
 */
export function RulesPage() {
  const { query } = route.value;
  const [q = '', open = '', sort = 'name'] = ['q', 'rule', 'sort'].map((name) => query.get(name) ?? undefined);
  const isOfAll = query.get('of') === 'all' && me.value !== null && me.value !== undefined && isOperator(me.value);
  const ownerId = isOfAll ? null : (me.value?.id ?? null);
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/notification-rules', {
        query: { limit: PAGE, ...(ownerId === null ? {} : { ownerId }), ...(cursor ? { cursor } : {}) },
        signal,
      }),
    [ownerId],
  );
  const changes = live.changes.value;
  useEffect(() => {
    if (changes.some(({ kind }) => kind === 'notification-rule')) void list.reload();
  }, [changes]);
  const notified = newest.value;
  useEffect(() => {
    const items = list.items.peek();
    if (notified !== null && items !== null)
      list.items.value = items.map((rule) =>
        rule.id === notified.ruleId ? { ...rule, lastNotifiedAt: notified.createdAt } : rule,
      );
  }, [notified]);
  const show = (id: string | null) => navigate(withQuery({ rule: id, copy: null }));
  return (
    <div class={open ? 'list-page rules with-panel' : 'list-page rules'}>
      <div class="list">
        <Sections />
        <Filters q={q} isOfAll={isOfAll} onNew={() => show('new')} />
        <List list={list} q={q} sort={sort} isOfAll={isOfAll} current={open || null} onOpen={show} />
      </div>
      {open && (
        <RulePanel
          key={`${open} ${query.get('copy')}`}
          id={open}
          onClose={() => show(null)}
          onSaved={(id) => {
            void list.reload();
            show(id);
          }}
        />
      )}
    </div>
  );
}

function Filters({ q, isOfAll, onNew }: { q: string; isOfAll: boolean; onNew: () => void }) {
  const words = ruleWords();
  return (
    <search class="filter-row">
      <SearchField placeholder={words.search} value={q} />
      {me.value && isOperator(me.value) && (
        <select aria-label={words.owner} onChange={(event) => setQuery({ of: event.currentTarget.value })}>
          <option value="">{words.ownOnly}</option>
          <option value="all" selected={isOfAll}>
            {words.ofAll}
          </option>
        </select>
      )}
      <button type="button" class="primary" onClick={onNew}>
        <Icon name="plus" /> {words.new}
      </button>
    </search>
  );
}

interface ListProps {
  list: ReturnType<typeof usePages<NotificationRule>>;
  q: string;
  sort: string;
  isOfAll: boolean;
  current: string | null;
  onOpen: (id: string) => void;
}

function List({ list, q, sort, isOfAll, current, onOpen }: ListProps) {
  const words = ruleWords();
  const names = useSignal<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    if (isOfAll) void ownerNames().then((read) => (names.value = read));
  }, [isOfAll]);
  const columns = ruleColumns(isOfAll ? names.value : null, (changed) => {
    list.items.value = (list.items.peek() ?? []).map((rule) => (rule.id === changed.id ? changed : rule));
  });
  const sorting: Sorting = { key: sort.replace('-', ''), isDescending: sort.startsWith('-') };
  return (
    <Paged list={list} empty={<Message icon="bell" title={words.empty} hint={words.emptyHint} />}>
      {(items) => {
        const found = items.filter(({ name }) => name.toLowerCase().includes(q.trim().toLowerCase()));
        if (found.length === 0) return <NoneFound showAll={words.showAll} asked={['q']} />;
        return (
          <Table
            label={t().pages.rules}
            columns={columns}
            rows={sorted(found, columns, sorting)}
            rowKey={({ id }) => id}
            sorting={sorting}
            onSort={({ key, isDescending }) => setQuery({ sort: isDescending ? `-${key}` : key })}
            onOpen={({ id }) => onOpen(id)}
            currentKey={current}
          />
        );
      }}
    </Paged>
  );
}

function ruleColumns(
  owners: ReadonlyMap<string, string> | null,
  onChange: (rule: NotificationRule) => void,
): Column<NotificationRule>[] {
  const words = ruleWords();
  const format = formats();
  const columns: Column<NotificationRule>[] = [
    { key: 'name', title: t().name, cell: ({ name }) => name, sortBy: ({ name }) => name },
    {
      key: 'active',
      title: words.active,
      cell: (rule) => <ActiveSwitch rule={rule} onChange={onChange} />,
      sortBy: ({ active }) => (active ? 0 : 1),
    },
    { key: 'events', title: words.events, cell: ({ eventKinds }) => eventKinds.map(kindName).join(', ') },
    { key: 'vehicles', title: words.vehicles, cell: whichVehicles },
    { key: 'channels', title: words.channels, cell: channelsText },
    {
      key: 'last',
      title: words.lastFired,
      cell: ({ lastNotifiedAt }) =>
        lastNotifiedAt === null ? t().never : <time dateTime={lastNotifiedAt}>{format.moment(lastNotifiedAt)}</time>,
      sortBy: ({ lastNotifiedAt }) => (lastNotifiedAt === null ? null : Date.parse(lastNotifiedAt)),
    },
    {
      key: 'failed',
      title: words.failed,
      isNumber: true,
      cell: ({ id, failedDeliveries }) =>
        failedDeliveries === 0 ? (
          '–'
        ) : (
          <a class="error" href={`/deliveries?rule=${id}&state=failed`}>
            {format.number(failedDeliveries)}
          </a>
        ),
      sortBy: ({ failedDeliveries }) => failedDeliveries,
    },
  ];
  if (owners !== null)
    columns.splice(1, 0, {
      key: 'owner',
      title: words.owner,
      cell: ({ ownerId }) => owners.get(ownerId) ?? '',
      sortBy: ({ ownerId }) => owners.get(ownerId) ?? null,
    });
  return columns;
}

function whichVehicles({ eventKinds, vehicleIds, groupIds }: NotificationRule): string {
  if (isLicenceRule({ eventKinds })) return '–';
  const words = ruleWords();
  if (vehicleIds === null && groupIds === null) return words.allVehiclesShown;
  const parts = [
    ...(vehicleIds === null || vehicleIds.length === 0 ? [] : [words.vehicleCount(vehicleIds.length)]),
    ...(groupIds === null || groupIds.length === 0 ? [] : [words.groupCount(groupIds.length)]),
  ];
  return parts.length === 0 ? '–' : joined(parts, ', ');
}

function channelsText({ emails, webhook, channelIds }: NotificationRule): string {
  const words = ruleWords();
  const parts = [
    words.inApp,
    ...(emails.length === 0 ? [] : [words.emailCount(emails.length)]),
    ...(webhook === null ? [] : [words.webhook]),
    ...(channelIds.length === 0 ? [] : [channelWords().chosen]),
  ];
  return joined(parts, ', ');
}

/** Switches a rule on or off at once. */
function ActiveSwitch({ rule, onChange }: { rule: NotificationRule; onChange: (rule: NotificationRule) => void }) {
  /** The requested state until the API responds: the list may be rendered again meanwhile. */
  const wanted = useSignal<boolean | null>(null);
  const change = async (active: boolean) => {
    wanted.value = active;
    try {
      onChange(await api.patch('/api/v1/notification-rules/{id}', { path: { id: rule.id }, body: { active } }));
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      wanted.value = null;
    }
  };
  return (
    <input
      type="checkbox"
      aria-label={ruleWords().switchOf(rule.name)}
      title={rule.inactiveReason === null ? undefined : ruleWords().inactive[rule.inactiveReason]}
      checked={wanted.value ?? rule.active}
      onChange={(event) => void change(event.currentTarget.checked)}
    />
  );
}

async function ownerNames(): Promise<ReadonlyMap<string, string>> {
  const users = await allPages((cursor) => api.get('/api/v1/users', { query: { limit: PAGE, ...cursor } }));
  return new Map(users.map(({ id, name }) => [id, name]));
}
