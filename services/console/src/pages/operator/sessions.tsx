import type { OwnedSession } from '@outrider/client';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { userWords } from '../users/words.ts';
import { operatorWords } from './words.ts';

const PAGE = 200;

/** Sessions: who is logged in, and from where. */
export function SessionsTab() {
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/operator/sessions', { query: { limit: PAGE, ...(cursor ? { cursor } : {}) }, signal }),
    [],
  );
  const end = async ({ userId, id }: OwnedSession) => {
    try {
      await api.delete('/api/v1/users/{id}/sessions/{sessionId}', { path: { id: userId, sessionId: id } });
      toast(userWords().sessions.ended);
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
    await list.reload();
  };
  const words = operatorWords();
  const columns: Column<OwnedSession>[] = [
    {
      key: 'login',
      title: t().login,
      cell: ({ login, userId }) => (
        <a href={`/users?user=${userId}`}>
          <bdi>{login}</bdi>
        </a>
      ),
    },
    {
      key: 'device',
      title: words.device,
      cell: ({ userAgent, device }) => <span title={userAgent}>{device || userWords().sessions.unknownDevice}</span>,
    },
    { key: 'address', title: words.address, cell: ({ address }) => address },
    { key: 'used', title: words.lastUse, cell: ({ lastUsedAt }) => formats().moment(lastUsedAt) },
    { key: 'since', title: words.begun, cell: ({ createdAt }) => formats().dateTime(createdAt) },
    {
      key: 'end',
      title: words.actions,
      cell: (session) =>
        session.current ? (
          userWords().sessions.current
        ) : (
          <button type="button" class="small" onClick={() => void end(session)}>
            {userWords().sessions.end}
          </button>
        ),
    },
  ];
  return (
    <Paged list={list} empty={<Message icon="user" title={userWords().sessions.none} />}>
      {(items) => <Table label={words.tabs.sessions} columns={columns} rows={items} rowKey={({ id }) => id} />}
    </Paged>
  );
}
