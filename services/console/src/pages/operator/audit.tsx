import type { AuditEntry, User } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formats } from '../../format.ts';
import { Picker } from '../../parts/forms/picker.tsx';
import { TimeRangeField } from '../../parts/forms/time-range-field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { route, setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { queryOfRange, timeRangeOf } from '../../time-range.ts';
import { userWords } from '../users/words.ts';
import { differencesOf, valueText } from './differences.ts';
import { operatorWords } from './words.ts';

const PAGE = 100;
type Action = AuditEntry['action'];
type Kind = AuditEntry['subject']['kind'];

/** Audit trail: who changed what, when, and from where. Each entry has the fields before and after. */
export function AuditTab() {
  const { query } = route.value;
  const [action, kind, userId, subject] = ['action', 'kind', 'by', 'subject'].map((name) => query.get(name) ?? '');
  const range = timeRangeOf(query, 'last7days', preferences.value.timeZone);
  const words = operatorWords();
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/audit', {
        query: {
          limit: PAGE,
          from: new Date(range.fromMs).toISOString(),
          to: new Date(range.toMs).toISOString(),
          ...(action && action in words.auditActions ? { action: action as Action } : {}),
          ...(kind && kind in words.auditKinds ? { kind: kind as Kind } : {}),
          ...(userId ? { userId } : {}),
          ...(subject ? { subject } : {}),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      }),
    [action, kind, userId, subject, range.fromMs, range.toMs],
  );
  return (
    <>
      <div class="filter-row audit-filters">
        <TimeRangeField range={range} onChange={(next) => setQuery(queryOfRange(next))} />
        <Select label={words.what} value={action ?? ''} name="action" words={words.auditActions} />
        <Select label={words.ofWhat} value={kind ?? ''} name="kind" words={words.auditKinds} />
        <WhoPicker chosen={userId ?? ''} />
        {subject && (
          <button type="button" onClick={() => setQuery({ subject: null })}>
            <Icon name="close" /> {words.oneSubject}
          </button>
        )}
      </div>
      <Paged list={list} empty={<Message icon="list" title={words.noAudit} hint={words.noAuditHint} />}>
        {(items) => (
          <ol class="audit" aria-label={words.tabs.audit}>
            {items.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </ol>
        )}
      </Paged>
    </>
  );
}

interface SelectProps {
  label: string;
  name: string;
  value: string;
  words: Readonly<Record<string, string>>;
}

function Select({ label, name, value, words }: SelectProps) {
  return (
    <div class="field">
      <label for={`audit-${name}`}>{label}</label>
      <select id={`audit-${name}`} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{operatorWords().anything}</option>
        {Object.entries(words).map(([one, word]) => (
          <option key={one} value={one} selected={one === value}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Searches accounts while the user types, as there may be many. */
function WhoPicker({ chosen }: { chosen: string }) {
  const users = useSignal<readonly User[]>([]);
  const text = useSignal('');
  useEffect(() => {
    const ending = new AbortController();
    const q = text.value.trim();
    api.get('/api/v1/users', { query: { limit: 50, sort: 'login', ...(q ? { q } : {}) }, signal: ending.signal }).then(
      ({ items }) => {
        users.value = items;
      },
      // The list below shows the error.
      () => {},
    );
    return () => ending.abort();
  }, [text.value]);
  return (
    <Picker
      label={operatorWords().who}
      items={users.value.map(({ id, login, name }) => ({ id, name: login, hint: name }))}
      chosen={chosen ? [chosen] : []}
      onChange={([id]) => setQuery({ by: id ?? null })}
      all={operatorWords().everybody}
      isSingle
      onSearch={(next) => {
        text.value = next;
      }}
    />
  );
}

/** Text of an action or a kind. One that is newer than the texts is shown by its name. */
function wordOf(words: Readonly<Record<string, string>>, name: string): string {
  return words[name] ?? name;
}

function Entry({ entry }: { entry: AuditEntry }) {
  const words = operatorWords();
  const { at, action, user, address, subject } = entry;
  const differences = differencesOf(entry.before, entry.after);
  const unknown = action === 'login-failed' ? words.stranger : words.theService;
  const who = user === null ? unknown : (user.login ?? userWords().roles[user.role]);
  const { id } = subject;
  return (
    <li>
      <details>
        <summary>
          <time dateTime={at}>{formats().dateTime(at)}</time>
          <span>
            <strong>{who}</strong> {wordOf(words.auditActions, action)}
          </span>
          <span class="subject">
            {wordOf(words.auditKinds, subject.kind)}{' '}
            <b>
              <bdi>{subject.name}</bdi>
            </b>
          </span>
        </summary>
        {differences.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{words.field}</th>
                <th scope="col">{words.before}</th>
                <th scope="col">{words.after}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ name, before, after }) => (
                <tr key={name}>
                  <th scope="row">
                    <bdi>{name}</bdi>
                  </th>
                  <td>{valueText(before)}</td>
                  <td>{valueText(after)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p>
          {address !== null && <small>{words.fromAddress(address)}</small>}
          {id !== null && (
            <button type="button" class="small" onClick={() => setQuery({ subject: id })}>
              {words.allOfSubject}
            </button>
          )}
        </p>
      </details>
    </li>
  );
}
