import type { Session } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { userWords } from './words.ts';

/** Sessions of an account. Each can be ended, and so can all others of the caller's own account. */
export function SessionList({ userId }: { userId: string }) {
  const words = userWords().sessions;
  const sessions = useSignal<readonly Session[] | null>(null);
  const error = useSignal<string | null>(null);
  const read = async () => {
    try {
      sessions.value = (await api.get('/api/v1/users/{id}/sessions', { path: { id: userId } })).items;
      error.value = null;
    } catch (reason) {
      error.value = describeError(reason);
    }
  };
  useEffect(() => void read(), [userId]);
  const end = async (sessionId: string | null) => {
    try {
      if (sessionId === null) await api.delete('/api/v1/users/{id}/sessions', { path: { id: userId } });
      else await api.delete('/api/v1/users/{id}/sessions/{sessionId}', { path: { id: userId, sessionId } });
      toast(words.ended);
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
    await read();
  };
  const items = sessions.value ?? [];
  const others = items.filter(({ current }) => !current).length;
  const isOwn = others < items.length;
  return (
    <section class="body" aria-label={words.title}>
      <h3>{words.title}</h3>
      {error.value !== null && <p class="error">{error.value}</p>}
      {sessions.value !== null && items.length === 0 && <p>{words.none}</p>}
      <ul class="facts-list">
        {items.map(({ id, createdAt, lastUsedAt, address, userAgent, device, current }) => (
          <li key={id}>
            <div>
              <strong title={userAgent}>{device || words.unknownDevice}</strong>
              <small>
                {current ? words.current : words.lastUsed(formats().moment(lastUsedAt))} · {address}
              </small>
              <small>{words.since(formats().dateTime(createdAt))}</small>
            </div>
            {!current && (
              <button type="button" onClick={() => void end(id)}>
                {words.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      {others > 1 && (
        <button type="button" onClick={() => void end(null)}>
          <Icon name="logout" /> {isOwn ? words.endOthers : words.endAll}
        </button>
      )}
    </section>
  );
}
