import { NOTIFIED_KINDS, type Notification } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { eventTime, mapLink, missed, newest, unreadCount } from '../../notifications.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { Message, NoneFound } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { OrderVideo } from '../../video/order-video.tsx';
import { language, t } from '../../words/words.ts';
import type { EventKind } from '../rules/draft.ts';
import '../../style/list-page.css';
import '../../style/rules.css';
import { describe, isLicence } from '../../sentences/sentences.ts';
import { incidentWords } from '../incidents/words.ts';
import { ruleWords } from '../rules/words.ts';
import { AlertSettings } from './alert-settings.tsx';
import { Sections } from './sections.tsx';

const PAGE = 100;

/** The inbox, newest first. New notifications are added at the top. The address has the filter. */
export function NotificationsPage() {
  const { query } = route.value;
  const isUnreadOnly = query.get('unread') === '1';
  const kind = NOTIFIED_KINDS.find((one) => one === query.get('kind'));
  const vehicleId = query.get('vehicle') ?? '';
  const list = usePages<Notification>(
    async (cursor, signal) => {
      const page = await api.get('/api/v1/notifications', {
        query: {
          limit: PAGE,
          ...(isUnreadOnly ? { unread: 'true' as const } : {}),
          ...(kind === undefined ? {} : { kind }),
          ...(vehicleId === '' ? {} : { vehicleId }),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      });
      unreadCount.value = page.unreadCount;
      return page;
    },
    [isUnreadOnly, kind, vehicleId],
  );
  const added = newest.value;
  useEffect(() => {
    const items = list.items.peek();
    if (added === null || items === null || items.some(({ id }) => id === added.id)) return;
    const { event } = added;
    if ((kind === undefined || event.kind === kind) && (vehicleId === '' || event.vehicleId === vehicleId))
      list.items.value = [added, ...items];
  }, [added]);

  const markRead = async (id: string | null) => {
    try {
      if (id === null) await api.post('/api/v1/notifications/read-all');
      else await api.post('/api/v1/notifications/{id}/read', { path: { id } });
      const readAt = new Date().toISOString();
      list.items.value = (list.items.peek() ?? []).map((one) =>
        id === null || one.id === id ? { ...one, readAt: one.readAt ?? readAt } : one,
      );
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };

  return (
    <div class="page">
      <Sections />
      <div class="heading">
        <h2>{t().pages.notifications}</h2>
        <span>{unreadCount.value !== null && t().unreadCount(unreadCount.value)}</span>
        <button type="button" disabled={unreadCount.value === 0} onClick={() => markRead(null)}>
          <Icon name="check" /> {t().markAllRead}
        </button>
      </div>
      <Filters isUnreadOnly={isUnreadOnly} kind={kind} vehicleId={vehicleId} />
      <Missed />
      <List list={list} isFiltered={isUnreadOnly || kind !== undefined || vehicleId !== ''} onRead={markRead} />
      <AlertSettings />
    </div>
  );
}

interface FilterProps {
  isUnreadOnly: boolean;
  kind: EventKind | undefined;
  vehicleId: string;
}

function Filters({ isUnreadOnly, kind, vehicleId }: FilterProps) {
  void fleet.version.value;
  void loaded.value;
  const words = ruleWords();
  const collator = new Intl.Collator(language.value, { numeric: true });
  const vehicles = fleet.vehicles.toSorted((a, b) => collator.compare(a.name, b.name));
  const push = { replace: false };
  return (
    <search class="filter-row">
      <button
        type="button"
        aria-pressed={isUnreadOnly}
        onClick={() => setQuery({ unread: isUnreadOnly ? null : '1' }, push)}
      >
        {t().unreadOnly}
      </button>
      <select aria-label={words.kinds} onChange={(event) => setQuery({ kind: event.currentTarget.value }, push)}>
        <option value="">{words.allKinds}</option>
        {NOTIFIED_KINDS.map((one) => (
          <option key={one} value={one} selected={one === kind}>
            {t().events[one]}
          </option>
        ))}
      </select>
      <select aria-label={t().vehicles} onChange={(event) => setQuery({ vehicle: event.currentTarget.value }, push)}>
        <option value="">{words.allVehiclesShown}</option>
        {vehicles.map(({ id, name }) => (
          <option key={id} value={id} selected={id === vehicleId}>
            {name}
          </option>
        ))}
      </select>
    </search>
  );
}

/** Notice about notifications that arrived while the connection was down, until it is closed. */
function Missed() {
  const value = missed.value;
  if (value === null) return null;
  return (
    <p class="notice" role="status">
      <Icon name="offline" />
      <span>{ruleWords().missedSince(value.count, formats().moment(value.sinceMs))}</span>
      <IconButton icon="close" label={t().close} onClick={() => (missed.value = null)} />
    </p>
  );
}

interface ListProps {
  list: ReturnType<typeof usePages<Notification>>;
  isFiltered: boolean;
  onRead: (id: string) => void;
}

function List({ list, isFiltered, onRead }: ListProps) {
  const empty = isFiltered ? (
    <NoneFound showAll={ruleWords().showAll} asked={['unread', 'kind', 'vehicle']} />
  ) : (
    <Message icon="bell" title={t().noNotifications} hint={t().noNotificationsHint}>
      <a class="button" href="/rules">
        {t().pages.rules}
      </a>
    </Message>
  );
  return (
    <Paged list={list} empty={empty} more={t().older}>
      {(items) => (
        <ul class="cards">
          {items.map((notification) => (
            <Card key={notification.id} notification={notification} onRead={onRead} />
          ))}
        </ul>
      )}
    </Paged>
  );
}

function Card({ notification, onRead }: { notification: Notification; onRead: (id: string) => void }) {
  const { id, ruleId, ruleName, event, late, readAt, severity, incidentId } = notification;
  const at = eventTime(event);
  return (
    <li class={readAt === null ? 'unread' : ''}>
      <div>
        <strong>{describe(notification)}</strong>
        <small>
          {severity !== 'info' && (
            <>
              <span class={`chip severity-${severity}`}>{incidentWords().severities[severity]}</span> ·{' '}
            </>
          )}
          <a href={`/rules?rule=${ruleId}`}>
            <bdi>{ruleName}</bdi>
          </a>{' '}
          · <time dateTime={at}>{formats().moment(at)}</time>
          {late && ` · ${t().foundLater}`}
        </small>
      </div>
      {incidentId !== null && (
        <a class="button" href={`/incidents?state=all&incident=${incidentId}`}>
          <Icon name="warning" /> {incidentWords().show}
        </a>
      )}
      {isLicence(event) ? (
        <a class="button" href={`/drivers?driver=${event.driverId}`}>
          <Icon name="driver" /> {ruleWords().showDriver}
        </a>
      ) : (
        <>
          <a class="button" href={mapLink(event)}>
            <Icon name="map" /> {t().showOnMap}
          </a>
          <OrderVideo vehicleId={event.vehicleId} atMs={Date.parse(at)} isSmall />
          <a class="button" href={trackLink({ vehicleId: event.vehicleId, atMs: Date.parse(at) })}>
            <Icon name="track" /> {ruleWords().showOnTrack}
          </a>
        </>
      )}
      {readAt === null && (
        <IconButton icon="check" label={t().markRead} title={t().markRead} onClick={() => onRead(id)} />
      )}
    </li>
  );
}
