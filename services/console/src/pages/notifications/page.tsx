import type { Notification } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { describe, newest, unreadCount } from '../../notifications.ts';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

const PAGE = 100;

interface Inbox {
  items: readonly Notification[];
  /** Null: there are no older ones. */
  next: string | null;
}

/** The inbox, the newest first; what arrives meanwhile is added on top. */
export function NotificationsPage() {
  const inbox = useSignal<Inbox | null>(null);
  const error = useSignal<string | null>(null);
  const isUnreadOnly = route.value.query.get('unread') === '1';

  const load = async (cursor: string | null) => {
    try {
      const query = {
        limit: PAGE,
        ...(isUnreadOnly ? { unread: 'true' as const } : {}),
        ...(cursor ? { cursor } : {}),
      };
      const { items, nextCursor, unreadCount: unread } = await api.get('/api/v1/notifications', { query });
      inbox.value = { items: cursor === null ? items : [...(inbox.peek()?.items ?? []), ...items], next: nextCursor };
      unreadCount.value = unread;
      error.value = null;
    } catch (reason) {
      error.value = describeError(reason);
    }
  };
  useEffect(() => {
    inbox.value = null;
    void load(null);
  }, [isUnreadOnly]);
  useSignalEffect(() => {
    const added = newest.value;
    const present = inbox.peek();
    if (added === null || present === null || present.items.some(({ id }) => id === added.id)) return;
    inbox.value = { ...present, items: [added, ...present.items] };
  });

  const markRead = async (id: string | null) => {
    try {
      if (id === null) await api.post('/api/v1/notifications/read-all');
      else await api.post('/api/v1/notifications/{id}/read', { path: { id } });
      const readAt = new Date().toISOString();
      const present = inbox.peek();
      if (present !== null)
        inbox.value = {
          ...present,
          items: present.items.map((one) =>
            id === null || one.id === id ? { ...one, readAt: one.readAt ?? readAt } : one,
          ),
        };
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };

  return (
    <div class="page">
      <div class="heading">
        <h2>{t().pages.notifications}</h2>
        <span>{unreadCount.value !== null && t().unreadCount(unreadCount.value)}</span>
        <button
          type="button"
          aria-pressed={isUnreadOnly}
          onClick={() => setQuery({ unread: isUnreadOnly ? null : '1' }, { replace: false })}
        >
          {t().unreadOnly}
        </button>
        <button type="button" disabled={unreadCount.value === 0} onClick={() => markRead(null)}>
          <Icon name="check" /> {t().markAllRead}
        </button>
      </div>
      {error.value !== null ? (
        <Message icon="warning" title={error.value} action={t().retry} onAction={() => void load(null)} />
      ) : (
        <List inbox={inbox.value} onRead={markRead} onOlder={load} />
      )}
    </div>
  );
}

interface ListProps {
  inbox: Inbox | null;
  onRead: (id: string) => void;
  onOlder: (cursor: string) => void;
}

function List({ inbox, onRead, onOlder }: ListProps) {
  if (inbox === null) return <Message title={t().loading} />;
  const { items, next } = inbox;
  if (items.length === 0) return <Message icon="bell" title={t().noNotifications} hint={t().noNotificationsHint} />;
  return (
    <>
      <ul class="cards">
        {items.map((notification) => (
          <Card key={notification.id} notification={notification} onRead={onRead} />
        ))}
      </ul>
      {next !== null && (
        <button type="button" onClick={() => onOlder(next)}>
          {t().older}
        </button>
      )}
    </>
  );
}

function Card({ notification, onRead }: { notification: Notification; onRead: (id: string) => void }) {
  const { id, ruleName, event, late, readAt } = notification;
  const at = event.phase === 'end' && event.endedAt !== null ? event.endedAt : event.startedAt;
  return (
    <li class={readAt === null ? 'unread' : ''}>
      <div>
        <strong>{describe(notification)}</strong>
        <small>
          {ruleName} · <time dateTime={at}>{formats().moment(at)}</time>
          {late && ` · ${t().foundLater}`}
        </small>
      </div>
      <a
        class="button"
        href={`/?vehicle=${event.vehicleId}&at=15/${event.latitude.toFixed(5)}/${event.longitude.toFixed(5)}`}
      >
        <Icon name="map" /> {t().showOnMap}
      </a>
      {readAt === null && (
        <button type="button" class="icon" aria-label={t().markRead} title={t().markRead} onClick={() => onRead(id)}>
          <Icon name="check" />
        </button>
      )}
    </li>
  );
}
