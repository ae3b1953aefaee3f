import type { Delivery, NotificationRule } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { eventTime, mapLink } from '../../notifications.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message, NoneFound } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user as me } from '../../session.ts';
import { t } from '../../words/words.ts';
import { KIND_NAMES, KINDS, said } from '../me/channel-kind.ts';
import '../../style/list-page.css';
import '../../style/rules.css';
import { describe, isLicence } from '../../sentences/sentences.ts';
import { Sections } from '../notifications/sections.tsx';
import { ruleWords } from '../rules/words.ts';

const PAGE = 200;
/** Refresh interval while a shown delivery waits to be sent. */
const REFRESH_MS = 5000;
const STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
const CHANNELS = ['email', 'webhook', ...KIND_NAMES] as const;

function wordFor(channel: (typeof CHANNELS)[number]): string {
  const { channelNames } = ruleWords();
  return channel === 'email' || channel === 'webhook' ? channelNames[channel] : said(KINDS[channel].name);
}

/** Deliveries with their recipients and outcomes. The address has the filter and the open delivery. */
export function DeliveriesPage() {
  const { query } = route.value;
  const ruleId = query.get('rule') ?? '';
  const state = STATES.find((one) => one === query.get('state'));
  const channel = CHANNELS.find((one) => one === query.get('channel'));
  const list = usePages<Delivery>(
    (cursor, signal) =>
      api.get('/api/v1/webhook-deliveries', {
        query: {
          limit: PAGE,
          channel: channel ?? 'any',
          ...(state === undefined ? {} : { state }),
          ...(ruleId === '' ? {} : { ruleId }),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      }),
    [ruleId, state, channel],
  );
  const items = list.items.value;
  const isWaiting = items?.some((delivery) => delivery.state === 'pending') ?? false;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => {
      if (!document.hidden && (list.items.peek()?.length ?? 0) <= PAGE) void list.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isWaiting, list]);
  const openId = query.get('delivery');
  const open = items?.find(({ id }) => id === openId) ?? null;
  const show = (id: string | null) => navigate(withQuery({ delivery: id }));
  return (
    <div class={open ? 'list-page with-panel' : 'list-page'}>
      <div class="list">
        <Sections />
        <Filters ruleId={ruleId} state={state ?? ''} channel={channel ?? ''} onReload={() => void list.reload()} />
        <List
          list={list}
          isFiltered={ruleId !== '' || state !== undefined || channel !== undefined}
          current={openId}
          onOpen={show}
        />
      </div>
      {open && (
        <DeliveryPanel key={open.id} delivery={open} onClose={() => show(null)} onResent={() => void list.reload()} />
      )}
    </div>
  );
}

interface FilterProps {
  ruleId: string;
  state: string;
  channel: string;
  onReload: () => void;
}

function Filters({ ruleId, state, channel, onReload }: FilterProps) {
  const words = ruleWords();
  const rules = useSignal<readonly NotificationRule[]>([]);
  const ownerId = me.value?.id;
  useEffect(() => {
    if (ownerId === undefined) return;
    api.get('/api/v1/notification-rules', { query: { limit: 1000, ownerId } }).then(
      (page) => (rules.value = page.items),
      (error: unknown) => toast(describeError(error), 'error'),
    );
  }, [ownerId]);
  return (
    <search class="filter-row">
      <select aria-label={words.rule} onChange={(event) => setQuery({ rule: event.currentTarget.value })}>
        <option value="">{words.allRules}</option>
        {rules.value.map(({ id, name }) => (
          <option key={id} value={id} selected={id === ruleId}>
            {name}
          </option>
        ))}
      </select>
      <select aria-label={t().state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
        <option value="">{words.allStates}</option>
        {STATES.map((one) => (
          <option key={one} value={one} selected={one === state}>
            {words.deliveryStates[one]}
          </option>
        ))}
      </select>
      <select aria-label={words.channels} onChange={(event) => setQuery({ channel: event.currentTarget.value })}>
        <option value="">{words.allChannels}</option>
        {CHANNELS.map((one) => (
          <option key={one} value={one} selected={one === channel}>
            {wordFor(one)}
          </option>
        ))}
      </select>
      <IconButton icon="refresh" label={t().retry} title={t().retry} onClick={onReload} />
    </search>
  );
}

interface ListProps {
  list: ReturnType<typeof usePages<Delivery>>;
  isFiltered: boolean;
  current: string | null;
  onOpen: (id: string) => void;
}

function List({ list, isFiltered, current, onOpen }: ListProps) {
  const words = ruleWords();
  const empty = isFiltered ? (
    <NoneFound showAll={words.showAll} asked={['rule', 'state', 'channel']} />
  ) : (
    <Message icon="bell" title={words.noDeliveries} hint={words.noDeliveriesHint}>
      <a class="button" href="/rules">
        {t().pages.rules}
      </a>
    </Message>
  );
  return (
    <Paged list={list} empty={empty}>
      {(items) => (
        <Table
          label={t().pages.deliveries}
          columns={columns()}
          rows={items}
          rowKey={({ id }) => id}
          onOpen={({ id }) => onOpen(id)}
          currentKey={current}
        />
      )}
    </Paged>
  );
}

function columns(): Column<Delivery>[] {
  const words = ruleWords();
  const format = formats();
  return [
    { key: 'time', title: words.time, cell: ({ createdAt }) => format.moment(createdAt) },
    { key: 'state', title: t().state, cell: ({ state }) => <StateChip state={state} /> },
    { key: 'event', title: words.event, cell: eventText },
    { key: 'rule', title: words.rule, cell: ({ notification }) => notification?.ruleName ?? '' },
    { key: 'channel', title: words.channels, cell: ({ channel }) => wordFor(channel) },
    { key: 'target', title: words.target, cell: ({ target }) => <bdi title={target}>{target}</bdi> },
    { key: 'attempts', title: words.attempts, isNumber: true, cell: ({ attempts }) => format.number(attempts) },
    { key: 'answer', title: words.answer, cell: answerText },
    {
      key: 'next',
      title: words.nextAttempt,
      cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '' : format.moment(nextAttemptAt)),
    },
  ];
}

function StateChip({ state }: Pick<Delivery, 'state'>) {
  return <span class={`chip ${state}`}>{ruleWords().deliveryStates[state]}</span>;
}

function eventText({ notification }: Delivery): string {
  return notification === null ? ruleWords().hiddenEvent : describe(notification);
}

function answerText({ lastError, responseStatus }: Delivery): string {
  return lastError ?? (responseStatus === null ? '' : String(responseStatus));
}

interface PanelProps {
  delivery: Delivery;
  onClose: () => void;
  onResent: () => void;
}

/** One delivery, with each of its attempts. */
function DeliveryPanel({ delivery, onClose, onResent }: PanelProps) {
  const words = ruleWords();
  const format = formats();
  const { id, ruleId, channel, target, state, createdAt, nextAttemptAt, finishedAt, attemptLog, notification } =
    delivery;
  const resend = async () => {
    try {
      await api.post('/api/v1/webhook-deliveries/{id}/resend', { path: { id } });
      toast(words.resent);
      onResent();
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };
  return (
    <Panel
      kind="side-panel"
      label={eventText(delivery)}
      onClose={onClose}
      head={
        <div>
          <h2>
            <bdi>{eventText(delivery)}</bdi>
          </h2>
          <StateChip state={state} />
        </div>
      }
    >
      <div class="scrolled">
        <div class="body">
          <dl class="facts">
            <dt>{wordFor(channel)}</dt>
            <dd class="address">
              <bdi>{target}</bdi>
            </dd>
            {notification !== null && (
              <>
                <dt>{words.rule}</dt>
                <dd>
                  <a href={`/rules?rule=${ruleId}`}>
                    <bdi>{notification.ruleName}</bdi>
                  </a>
                </dd>
              </>
            )}
            <dt>{words.created}</dt>
            <dd>{format.dateTime(createdAt)}</dd>
            {nextAttemptAt !== null && (
              <>
                <dt>{words.nextAttempt}</dt>
                <dd>{format.dateTime(nextAttemptAt)}</dd>
              </>
            )}
            {finishedAt !== null && (
              <>
                <dt>{words.finished}</dt>
                <dd>{format.dateTime(finishedAt)}</dd>
              </>
            )}
          </dl>
          <h3>{words.attempts}</h3>
          {attemptLog.length === 0 ? (
            <p>{delivery.lastError ?? words.noAttempts}</p>
          ) : (
            <ol class="facts-list">
              {attemptLog.map(({ at, error, responseStatus }) => (
                <li key={at}>
                  <div>
                    <span class={error === null ? undefined : 'error'}>{error ?? words.attemptDone}</span>
                    <small>{format.dateTime(at)}</small>
                  </div>
                  {responseStatus !== null && <span class="number">{responseStatus}</span>}
                </li>
              ))}
            </ol>
          )}
          <div class="actions">
            {notification !== null && (
              <button type="button" onClick={() => void resend()}>
                <Icon name="refresh" /> {words.resend}
              </button>
            )}
            {notification !== null && isLicence(notification.event) && (
              <a class="button" href={`/drivers?driver=${notification.event.driverId}`}>
                <Icon name="driver" /> {words.showDriver}
              </a>
            )}
            {notification !== null && !isLicence(notification.event) && (
              <>
                <a class="button" href={mapLink(notification.event)}>
                  <Icon name="map" /> {t().showOnMap}
                </a>
                <a
                  class="button"
                  href={trackLink({
                    vehicleId: notification.event.vehicleId,
                    atMs: Date.parse(eventTime(notification.event)),
                  })}
                >
                  <Icon name="track" /> {words.showOnTrack}
                </a>
              </>
            )}
          </div>
        </div>
      </div>
    </Panel>
  );
}
