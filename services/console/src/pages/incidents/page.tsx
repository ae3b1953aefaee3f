import { ApiError, type Incident } from '@outrider/client';
import { useEffect, useRef } from 'preact/hooks';
import { formats } from '../../format.ts';
import { openIncidentCount } from '../../incidents.ts';
import { live } from '../../live/live.ts';
import { Paged } from '../../parts/lists/paged.tsx';
import { type PagedList, usePages } from '../../parts/lists/pages.ts';
import { Message, NoneFound } from '../../parts/message.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { describe } from '../../sentences/sentences.ts';
import { api, user as me } from '../../session.ts';
import { t } from '../../words/words.ts';
import '../../style/list-page.css';
import '../../style/rules.css';
import '../../style/incidents.css';
import { Sections } from '../notifications/sections.tsx';
import { ruleWords } from '../rules/words.ts';
import { Chips } from './chips.tsx';
import { IncidentPanel } from './panel.tsx';
import { incidentWords } from './words.ts';

const PAGE = 100;
const STATES = ['active', 'open', 'acknowledged', 'closed', 'all'] as const;
const SEVERITIES = ['warning', 'critical'] as const;
/** Changes within this time are read together. */
const READ_AFTER_MS = 300;
/** If more incidents than this changed, the list is loaded again instead. */
const MOST_READ = 10;

interface Filter {
  state: (typeof STATES)[number];
  severity: Incident['severity'] | undefined;
  /** Null: any assignee, or none. */
  assigneeId: string | null;
}

/** Incidents, newest first. The address has the filter of the list and the open incident. */
export function IncidentsPage() {
  const { query } = route.value;
  const state = STATES.find((one) => one === query.get('state')) ?? 'active';
  const severity = SEVERITIES.find((one) => one === query.get('severity'));
  const assigneeId = query.get('mine') === '1' ? (me.value?.id ?? null) : null;
  const filter: Filter = { state, severity, assigneeId };
  const list = usePages<Incident>(
    async (cursor, signal) => {
      const page = await api.get('/api/v1/incidents', {
        query: {
          limit: PAGE,
          ...(state === 'all' ? {} : { state }),
          ...(severity === undefined ? {} : { severity }),
          ...(assigneeId === null ? {} : { assigneeId }),
          ...(cursor ? { cursor } : {}),
        },
        signal,
      });
      openIncidentCount.value = page.openCount;
      return page;
    },
    [state, severity, assigneeId],
  );
  useChanges(list, filter);
  const openId = query.get('incident');
  const show = (id: string | null) => navigate(withQuery({ incident: id }));
  return (
    <div class={openId === null ? 'list-page rules' : 'list-page rules with-panel'}>
      <div class="list">
        <Sections />
        <div class="heading">
          <h2>{t().pages.incidents}</h2>
          <span>{openIncidentCount.value !== null && incidentWords().openCount(openIncidentCount.value)}</span>
        </div>
        <Filters {...filter} />
        <div class="incidents">
          <List list={list} filter={filter} current={openId} />
        </div>
      </div>
      {openId !== null && <IncidentPanel key={openId} id={openId} onClose={() => show(null)} />}
    </div>
  );
}

/** Reads the incidents that changed while the page is open. */
function useChanges(list: PagedList<Incident>, filter: Filter): void {
  const changed = useRef(new Set<string>());
  const news = live.incident.value;
  useEffect(() => {
    if (news === null) return;
    changed.current.add(news.id);
    const timer = setTimeout(() => {
      const ids = [...changed.current];
      changed.current.clear();
      if (ids.length > MOST_READ) void list.reload();
      else for (const id of ids) void take(list, filter, id);
    }, READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [news, list]);
}

async function take(list: PagedList<Incident>, filter: Filter, id: string): Promise<void> {
  const read = await api.get('/api/v1/incidents/{id}', { path: { id } }).catch((error: unknown) => {
    // An incident that could not be read stays as it is shown.
    if (!(error instanceof ApiError && error.status === 404)) return undefined;
    return null;
  });
  if (read === undefined) return;
  const items = list.items.peek();
  if (items === null) return;
  const others = items.filter((each) => each.id !== id);
  if (read === null || !matches(read, filter)) list.items.value = others;
  else if (others.length === items.length) list.items.value = [read, ...items];
  else list.items.value = items.map((each) => (each.id === id ? read : each));
}

function matches(incident: Incident, { state, severity, assigneeId }: Filter): boolean {
  const isState = state === 'all' || (state === 'active' ? incident.state !== 'closed' : incident.state === state);
  return (
    isState &&
    (severity === undefined || incident.severity === severity) &&
    (assigneeId === null || incident.assignee?.id === assigneeId)
  );
}

function Filters({ state, severity, assigneeId }: Filter) {
  const words = incidentWords();
  const stateWord = (one: Filter['state']) =>
    one === 'active' ? words.active : one === 'all' ? words.all : (words.states[one] ?? one);
  const push = { replace: false };
  return (
    <search class="filter-row">
      <select
        aria-label={t().state}
        onChange={({ currentTarget: { value } }) => setQuery({ state: value === 'active' ? null : value }, push)}
      >
        {STATES.map((one) => (
          <option key={one} value={one} selected={one === state}>
            {stateWord(one)}
          </option>
        ))}
      </select>
      <select
        aria-label={ruleWords().severity}
        onChange={(event) => setQuery({ severity: event.currentTarget.value }, push)}
      >
        <option value="">{words.allSeverities}</option>
        {SEVERITIES.map((one) => (
          <option key={one} value={one} selected={one === severity}>
            {words.severities[one]}
          </option>
        ))}
      </select>
      <button
        type="button"
        aria-pressed={assigneeId !== null}
        onClick={() => setQuery({ mine: assigneeId === null ? '1' : null }, push)}
      >
        {words.mine}
      </button>
    </search>
  );
}

interface ListProps {
  list: PagedList<Incident>;
  filter: Filter;
  current: string | null;
}

function List({ list, filter, current }: ListProps) {
  const words = incidentWords();
  const { state, severity, assigneeId } = filter;
  const empty =
    state === 'active' && severity === undefined && assigneeId === null ? (
      <Message icon="check" title={words.empty} hint={words.emptyHint}>
        <a class="button" href="/rules">
          {t().pages.rules}
        </a>
      </Message>
    ) : (
      <NoneFound showAll={ruleWords().showAll} asked={['state', 'severity', 'mine']} />
    );
  return (
    <Paged list={list} empty={empty} more={t().older}>
      {(items) => (
        <ul class="cards">
          {items.map((incident) => (
            <Card key={incident.id} incident={incident} isCurrent={incident.id === current} />
          ))}
        </ul>
      )}
    </Paged>
  );
}

function Card({ incident, isCurrent }: { incident: Incident; isCurrent: boolean }) {
  const words = incidentWords();
  const { id, severity, state, createdAt, assignee, ruleName, escalatedAt } = incident;
  return (
    <li class={`incident ${severity} ${state}`}>
      <a href={withQuery({ incident: id })} aria-current={isCurrent ? 'true' : undefined}>
        <strong>{describe(incident)}</strong>
        <small>
          <Chips incident={incident} /> · <time dateTime={createdAt}>{formats().moment(createdAt)}</time> ·{' '}
          <bdi>{ruleName}</bdi>
          {escalatedAt !== null && (
            <>
              {' · '}
              {words.escalatedAt}
            </>
          )}
          {assignee !== null && (
            <>
              {' · '}
              {words.assignee} <bdi>{assignee.name}</bdi>
            </>
          )}
        </small>
      </a>
    </li>
  );
}
