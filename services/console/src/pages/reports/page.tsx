import { ApiError, type ReportKind } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import '../../style/reports.css';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import type { Missing } from '../../protection/missing.tsx';
import { navigate, route } from '../../router.ts';
import { api } from '../../session.ts';
import { isNarrow } from '../../text-size.ts';
import { presetRange } from '../../time-range.ts';
import { t } from '../../words/words.ts';
import { Failure } from './failure.tsx';
import { Files } from './files.tsx';
import { QuestionForm } from './form.tsx';
import { kinds, loadKinds, summaryOfKind, titleOfKind } from './kinds.ts';
import { Result } from './result.tsx';
import type { Row } from './rows.ts';
import { Schedules } from './schedules.tsx';
import { DEFAULT_PRESET, fitting, lookOf, type Question, queryOf, questionOf, reportLink, zoneOf } from './state.ts';
import { TemplateList } from './templates.tsx';
import { reportWords } from './words.ts';

const PAGE = 1000;

/** Reports of all kinds, their files, and schedules. The address describes the report. */
export function ReportsPage() {
  const error = useSignal<unknown>(null);
  const load = () => {
    error.value = null;
    loadKinds().catch((reason: unknown) => {
      error.value = reason;
    });
  };
  useEffect(load, []);
  const list = route.value.query.get('list');
  const all = kinds.value;
  return (
    <div class="reports">
      <nav class="tabs" aria-label={reportWords().title}>
        <Tab href="/reports" icon="chart" title={reportWords().report} isCurrent={list === null} />
        <Tab href="/reports?list=files" icon="download" title={reportWords().files} isCurrent={list === 'files'} />
        <Tab
          href="/reports?list=schedules"
          icon="calendar"
          title={reportWords().schedules}
          isCurrent={list === 'schedules'}
        />
      </nav>
      {error.value !== null ? (
        <Failure error={error.value} onRetry={load} />
      ) : all === null ? (
        <Message title={t().loading} />
      ) : list === 'files' ? (
        <Files />
      ) : list === 'schedules' ? (
        <Schedules kinds={all} />
      ) : (
        <Report kinds={all} />
      )}
    </div>
  );
}

function Tab({ href, icon, title, isCurrent }: { href: string; icon: IconName; title: string; isCurrent: boolean }) {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} /> {title}
    </a>
  );
}

function Report({ kinds }: { kinds: readonly ReportKind[] }) {
  const { query } = route.value;
  const { timeZone } = preferences.value;
  const address = query.toString();
  // When the report is run again, “today” may be another day.
  const attempt = useSignal(0);
  const asked = useMemo(() => questionOf(query, timeZone), [address, timeZone, attempt.value]);
  const kind = asked === null ? undefined : kinds.find((one) => one.kind === asked.kind);
  const draft = useSignal<Question>(asked ?? firstQuestion(kinds, timeZone));
  useEffect(() => {
    if (asked !== null) draft.value = asked;
  }, [asked]);
  return (
    <div class="split">
      <Shown
        key={asked === null ? '' : `${questionKey(asked)} ${attempt.value}`}
        asked={asked}
        kind={kind}
        kinds={kinds}
        draft={draft}
        onRepeat={() => {
          attempt.value += 1;
        }}
      />
    </div>
  );
}

function firstQuestion(kinds: readonly ReportKind[], timeZone: string | null): Question {
  const first = kinds.find(({ kind }) => kind === 'summary') ?? kinds[0];
  return {
    kind: first?.kind ?? '',
    range: presetRange(DEFAULT_PRESET, timeZone, Date.now()),
    vehicleIds: [],
    groupId: null,
    period: null,
    eventKinds: [],
    geozoneId: null,
    shape: null,
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: [],
    driverIds: [],
  };
}

/** Key that changes when the report must be loaded again; display settings are not part of it. */
function questionKey(question: Question): string {
  return reportLink(question);
}

interface ShownProps {
  asked: Question | null;
  kind: ReportKind | undefined;
  kinds: readonly ReportKind[];
  draft: Signal<Question>;
  /** The same report is run again. */
  onRepeat: () => void;
}

function Shown({ asked, kind, kinds, draft, onRepeat }: ShownProps) {
  const { timeZone } = preferences.value;
  const zone = zoneOf(timeZone);
  const missing = useSignal<Missing>({});
  const pages = usePages<Row>(
    async (cursor, ending) => {
      const page = await (asked && kind ? readPage(asked, kind, zone, cursor, ending) : NO_ROWS);
      if (cursor === undefined && !ending.aborted) missing.value = page;
      return page;
    },
    [kind, zone],
  );
  const failure = pages.error.value;
  const errorsAt = (parameter: string) =>
    failure instanceof ApiError
      ? (failure.problem.errors ?? []).filter((one) => one.parameter === parameter).map(({ detail }) => detail)
      : [];
  const submit = () => {
    const next = draft.peek();
    const chosen = kinds.find((one) => one.kind === next.kind);
    if (chosen === undefined) return;
    const isSame = asked !== null && questionKey(asked) === questionKey(next);
    if (isSame) onRepeat();
    else navigate(reportLink(fitting(next, chosen), keptLook(asked, next)));
  };
  return (
    <>
      <section class="side" aria-label={reportWords().question}>
        <details class="fold" open={asked === null || !isNarrow()}>
          <summary>{reportWords().question}</summary>
          <QuestionForm
            kinds={kinds}
            question={draft}
            isBusy={pages.isLoading.value && asked !== null}
            errorsAt={errorsAt}
            onSubmit={submit}
          />
          <TemplateList range={draft.value.range} />
        </details>
      </section>
      {asked === null ? (
        <Kinds kinds={kinds} draft={draft.value} />
      ) : kind === undefined ? (
        <Message icon="search" title={reportWords().noSuchKind} />
      ) : (
        <Result key={kind.kind} kind={kind} question={asked} pages={pages} zone={zone} missing={missing.value} />
      )}
    </>
  );
}

/** Keeps columns and order if the next report has the same kind. */
function keptLook(asked: Question | null, next: Question) {
  const look = lookOf(route.peek().query);
  return asked?.kind === next.kind ? look : { pane: look.pane };
}

interface ReportPage extends Missing {
  items: Row[];
  nextCursor: string | null;
}

const NO_ROWS: Promise<ReportPage> = Promise.resolve({ items: [], nextCursor: null });

async function readPage(
  question: Question,
  kind: ReportKind,
  zone: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ReportPage> {
  const query = { ...queryOf(question, kind, zone), limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
  const path = `/api/v1/reports/${kind.kind}`;
  const { shape } = question;
  const answer = await (shape === null
    ? api.send('get', path, { query, signal })
    : api.send('post', path, { query, body: shape, signal }));
  return answer.json();
}

/** The kinds of report to choose from, while none is chosen. */
function Kinds({ kinds, draft }: { kinds: readonly ReportKind[]; draft: Question }) {
  return (
    <div class="kinds">
      <p>{reportWords().choose}</p>
      <ul>
        {kinds.map((kind) => (
          <li key={kind.kind}>
            <a href={reportLink(fitting({ ...draft, kind: kind.kind }, kind))}>
              <strong>{titleOfKind(kind.kind)}</strong>
              <small>{summaryOfKind(kind)}</small>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
