import type { Colleague, Incident, IncidentEntry, IncidentWithEntries, NewIncidentEntry } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { live } from '../../live/live.ts';
import { eventTime, mapLink } from '../../notifications.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure, Message } from '../../parts/message.tsx';
import { Panel, useUnsaved } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { hasRight } from '../../rights.ts';
import { describe, isLicence } from '../../sentences/sentences.ts';
import { api, user as me } from '../../session.ts';
import { OrderVideo } from '../../video/order-video.tsx';
import { t } from '../../words/words.ts';
import { ruleWords } from '../rules/words.ts';
import { Chips } from './chips.tsx';
import { incidentWords } from './words.ts';

/** Number of accounts that are offered. Others are found by their name. */
const ASSIGNEES = 50;
const SEARCH_AFTER_MS = 200;
const MAX_COMMENT = 2000;

/** One incident: its event, its history, and the possible actions. */
export function IncidentPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const opened = useSignal<IncidentWithEntries | { failure: string } | null>(null);
  const load = async () => {
    try {
      opened.value = await api.get('/api/v1/incidents/{id}', { path: { id } });
    } catch (error) {
      opened.value = { failure: describeError(error) };
    }
  };
  const news = live.incident.value;
  const changedTo = news?.id === id ? news.version : null;
  useEffect(() => {
    const known = opened.peek();
    if (known === null || 'failure' in known || (changedTo !== null && changedTo > known.version)) void load();
  }, [changedTo]);
  const value = opened.value;
  const title = value === null || 'failure' in value ? t().pages.incidents : describe(value);
  return (
    <Panel kind="side-panel" label={title} onClose={onClose} head={<h2>{title}</h2>}>
      <div class="scrolled">
        {value === null ? (
          <Message title={t().loading} />
        ) : 'failure' in value ? (
          <Message icon="warning" title={value.failure} action={t().retry} onAction={() => void load()} />
        ) : (
          <Opened incident={value} onChanged={(changed) => (opened.value = changed)} />
        )}
      </div>
    </Panel>
  );
}

interface OpenedProps {
  incident: IncidentWithEntries;
  onChanged: (incident: IncidentWithEntries) => void;
}

function Opened({ incident, onChanged }: OpenedProps) {
  const words = incidentWords();
  const failure = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const { id, state } = incident;
  /** @returns whether the entry was added */
  const add = async (entry: NewIncidentEntry): Promise<boolean> => {
    isBusy.value = true;
    try {
      onChanged(await api.post('/api/v1/incidents/{id}/entries', { path: { id }, body: entry }));
      failure.value = null;
      return true;
    } catch (error) {
      failure.value = describeError(error);
      return false;
    } finally {
      isBusy.value = false;
    }
  };
  const close = async () => {
    if (await confirmed(words.close, words.closeQuestion, words.close)) await add({ kind: 'closed' });
  };
  const escalate = async () => {
    if (!(await confirmed(words.escalate, words.escalateQuestion, words.escalate))) return;
    if (await add({ kind: 'escalated' })) toast(words.escalated);
  };
  const mayAct = Boolean(me.value && hasRight(me.value, 'edit-notifications'));
  return (
    <>
      <div class="body">
        <p>
          <Chips incident={incident} />
        </p>
        <Facts incident={incident} />
        <Links incident={incident} />
        {failure.value !== null && <Failure>{failure.value}</Failure>}
        {mayAct && state !== 'closed' && (
          <>
            <div class="actions">
              {state === 'open' && (
                <button
                  type="button"
                  class="primary"
                  disabled={isBusy.value}
                  onClick={() => void add({ kind: 'acknowledged' })}
                >
                  <Icon name="check" /> {words.acknowledge}
                </button>
              )}
              <button type="button" disabled={isBusy.value} onClick={() => void close()}>
                {words.close}
              </button>
              <button type="button" disabled={isBusy.value} onClick={() => void escalate()}>
                <Icon name="warning" /> {words.escalate}
              </button>
            </div>
            <Assignee incident={incident} onAssign={(assigneeId) => void add({ kind: 'assigned', assigneeId })} />
          </>
        )}
      </div>
      <div class="body">
        <h3>{words.history}</h3>
        <History entries={incident.entries} />
        {mayAct && <Comment isBusy={isBusy.value} onAdd={(text) => add({ kind: 'commented', text })} />}
      </div>
    </>
  );
}

function Facts({ incident }: { incident: Incident }) {
  const words = incidentWords();
  const { ruleId, ruleName, owner, shared, createdAt, endedAt, escalateAt, escalatedAt } = incident;
  const isOwn = owner?.id === me.value?.id;
  const time = (at: string) => <time dateTime={at}>{formats().moment(at)}</time>;
  return (
    <dl class="facts">
      <dt>{words.opened}</dt>
      <dd>{time(createdAt)}</dd>
      {endedAt !== null && (
        <>
          <dt>{words.ended}</dt>
          <dd>{time(endedAt)}</dd>
        </>
      )}
      <dt>{words.rule}</dt>
      <dd>
        {isOwn ? (
          <a href={`/rules?rule=${ruleId}`}>
            <bdi>{ruleName}</bdi>
          </a>
        ) : (
          <bdi>{ruleName}</bdi>
        )}{' '}
        {shared && <small>{words.shared}</small>}
      </dd>
      {!isOwn && owner !== null && (
        <>
          <dt>{words.owner}</dt>
          <dd>
            <bdi>{owner.name}</bdi>
          </dd>
        </>
      )}
      {escalatedAt !== null && (
        <>
          <dt>{words.escalatedAt}</dt>
          <dd>{time(escalatedAt)}</dd>
        </>
      )}
      {escalateAt !== null && <dd class="whole">{words.escalatesAt(formats().moment(escalateAt))}</dd>}
    </dl>
  );
}

function Links({ incident: { event } }: { incident: Incident }) {
  if (isLicence(event))
    return (
      <div class="actions">
        <a class="button" href={`/drivers?driver=${event.driverId}`}>
          <Icon name="driver" /> {ruleWords().showDriver}
        </a>
      </div>
    );
  const atMs = Date.parse(eventTime(event));
  return (
    <div class="actions">
      <a class="button" href={mapLink(event)}>
        <Icon name="map" /> {t().showOnMap}
      </a>
      <a class="button" href={trackLink({ vehicleId: event.vehicleId, atMs })}>
        <Icon name="track" /> {ruleWords().showOnTrack}
      </a>
      <OrderVideo vehicleId={event.vehicleId} atMs={atMs} isSmall />
    </div>
  );
}

interface AssigneeProps {
  incident: Incident;
  onAssign: (id: string | null) => void;
}

/** Chooses the assignee among those who may see the incident. If these are many, they are found by name. */
function Assignee({ incident: { id, assignee }, onAssign }: AssigneeProps) {
  const words = incidentWords();
  const search = useSignal('');
  const found = useSignal<readonly Colleague[]>([]);
  const hasMore = useSignal(false);
  const asked = search.value.trim();
  useEffect(() => {
    const ending = new AbortController();
    const timer = setTimeout(
      () => {
        const query = { limit: ASSIGNEES, ...(asked === '' ? {} : { q: asked }) };
        api.get('/api/v1/incidents/{id}/assignees', { path: { id }, query, signal: ending.signal }).then(
          ({ items, nextCursor }) => {
            found.value = items;
            if (asked === '') hasMore.value = nextCursor !== null;
          },
          (error: unknown) => {
            if (!ending.signal.aborted) toast(describeError(error), 'error');
          },
        );
      },
      asked === '' ? 0 : SEARCH_AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [id, asked]);
  const isListed = assignee === null || found.value.some((each) => each.id === assignee.id);
  const all = isListed ? found.value : [assignee, ...found.value];
  return (
    <>
      <Choice
        label={words.assignee}
        value={assignee?.id ?? ''}
        onChange={(chosen) => onAssign(chosen === '' ? null : chosen)}
      >
        <option value="">{words.nobody}</option>
        {all.map(({ id: userId, name }) => (
          <option key={userId} value={userId}>
            {name}
          </option>
        ))}
      </Choice>
      {hasMore.value && (
        <Field
          label={words.searchAccounts}
          type="search"
          hint={words.moreAccounts}
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      )}
    </>
  );
}

function History({ entries }: { entries: readonly IncidentEntry[] }) {
  const words = incidentWords();
  if (entries.length === 0) return <small>{words.noHistory}</small>;
  return (
    <ol class="history">
      {entries.map((entry) => (
        <li key={entry.id}>
          <span>{said(entry)}</span>
          <time dateTime={entry.at}>{formats().moment(entry.at)}</time>
          {entry.text !== null && (
            <p>
              <bdi>{entry.text}</bdi>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function said({ kind, by, assignee }: IncidentEntry): string {
  const { entries, somebody } = incidentWords();
  const who = by?.name ?? somebody;
  switch (kind) {
    case 'ended':
      return entries.ended;
    case 'escalated':
      return by === null ? entries.escalatedByService : entries.escalated(who);
    case 'assigned':
      return assignee === null ? entries.unassigned(who) : entries.assigned(who, assignee.name);
    case 'acknowledged':
    case 'commented':
    case 'closed':
      return entries[kind](who);
  }
}

function Comment({ isBusy, onAdd }: { isBusy: boolean; onAdd: (text: string) => Promise<boolean> }) {
  const words = incidentWords();
  const text = useSignal('');
  const inputId = useId();
  useUnsaved(() => text.peek().trim() !== '');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await onAdd(text.value.trim())) text.value = '';
  };
  return (
    <form class="form" onSubmit={submit}>
      <div class="field">
        <label for={inputId}>{words.comment}</label>
        <textarea
          id={inputId}
          rows={3}
          maxLength={MAX_COMMENT}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </div>
      <div class="actions">
        <button type="submit" disabled={isBusy || text.value.trim() === ''}>
          {words.addComment}
        </button>
      </div>
    </form>
  );
}
