import {
  ApiError,
  type NewReportSchedule,
  type ReportKind,
  type ReportSchedule,
  type ReportSchedulePatch,
} from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import { Edit } from '../../parts/forms/edit.ts';
import { ChoiceField, EditForm, TextField } from '../../parts/forms/edit-form.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { useTyped } from '../../parts/forms/typed.ts';
import { Icon } from '../../parts/icon.tsx';
import { type PagedList, usePages } from '../../parts/lists/pages.ts';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { hasRight } from '../../rights.ts';
import { navigate, route } from '../../router.ts';
import { api, user } from '../../session.ts';
import { LANGUAGES, language, t } from '../../words/words.ts';
import { Failure } from './failure.tsx';
import { KindChoice, QuestionFields } from './form.tsx';
import { hourText, titleOfKind } from './kinds.ts';
import { addressesIn, bodyOfSchedule, type Fields, fieldsOf, newFields } from './schedule.ts';
import { lookOf, questionOf, zoneOf } from './state.ts';
import { reportWords } from './words.ts';

const LIST = '/reports?list=schedules';
const PAGE = 100;

const linkOf = (id: string) => `${LIST}&schedule=${id}`;

/** Scheduled reports: each with its state, its recipients and the outcome of its e-mails. */
export function Schedules({ kinds }: { kinds: readonly ReportKind[] }) {
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/report-schedules', {
        query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
        signal,
      }),
    [],
  );
  const { query } = route.value;
  const chosen = query.get('schedule');
  const own = (list.items.value ?? []).filter(({ ownerId }) => ownerId === user.value?.id);
  const close = () => navigate(LIST);
  return (
    <>
      <Listed list={list} own={own} />
      {chosen !== null && (
        <ScheduleDialog
          key={chosen}
          id={chosen === 'new' ? null : chosen}
          kinds={kinds}
          onClose={close}
          onChanged={() => void list.reload()}
        />
      )}
    </>
  );
}

/** Button for a new schedule; empty if the user may have no schedules. */
function NewSchedule() {
  if (!user.value || !hasRight(user.value, 'edit-notifications')) return null;
  return (
    <a class="button" href={linkOf('new')}>
      <Icon name="plus" /> {reportWords().newSchedule}
    </a>
  );
}

function Listed({ list, own }: { list: PagedList<ReportSchedule>; own: readonly ReportSchedule[] }) {
  if (list.error.value !== null && list.items.value === null)
    return <Failure error={list.error.value} onRetry={() => void list.reload()} />;
  if (list.items.value === null) return <Message title={t().loading} />;
  if (own.length === 0 && !list.hasMore.value)
    return (
      <Message icon="calendar" title={reportWords().noSchedules} hint={reportWords().noSchedulesHint}>
        <NewSchedule />
      </Message>
    );
  return (
    <div class="page">
      <div class="heading">
        <h2>{reportWords().schedules}</h2>
        <NewSchedule />
      </div>
      <ul class="cards">
        {own.map((schedule) => (
          <ScheduleCard key={schedule.id} schedule={schedule} onChanged={() => void list.reload()} />
        ))}
      </ul>
      {list.hasMore.value && (
        <button type="button" disabled={list.isLoading.value} onClick={() => void list.more()}>
          {t().parts.showMore}
        </button>
      )}
    </div>
  );
}

function ScheduleCard({ schedule, onChanged }: { schedule: ReportSchedule; onChanged: () => void }) {
  const { id, name, kind, active, inactiveReason, frequency, hour, covers, timeZone, nextAt, emailStates } = schedule;
  const run = async (action: () => Promise<unknown>) => {
    try {
      await action();
      onChanged();
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };
  const path = { id };
  const remove = async () => {
    if (await confirmed(t().delete, reportWords().deleteSchedule(name), t().delete))
      await run(() => api.delete('/api/v1/report-schedules/{id}', { path }));
  };
  const unconfirmed = emailStates.filter(({ state }) => state !== 'confirmed').length;
  return (
    <li class={active ? '' : 'paused'}>
      <div>
        <a href={linkOf(id)}>
          <strong>
            <bdi>{name}</bdi>
          </strong>
        </a>
        <small>
          {titleOfKind(kind)} · {reportWords().covers[covers]} · {reportWords().frequencies[frequency]},{' '}
          {hourText(hour)} ({timeZone})
        </small>
        <small>
          {active && nextAt !== null
            ? reportWords().nextAt(formats().moment(nextAt))
            : reportWords().inactive[inactiveReason ?? 'switched-off']}
          {unconfirmed > 0 && ` · ${reportWords().unconfirmed(unconfirmed)}`}
        </small>
      </div>
      <button
        type="button"
        onClick={() => void run(() => api.patch('/api/v1/report-schedules/{id}', { path, body: { active: !active } }))}
      >
        <Icon name={active ? 'pause' : 'play'} /> {active ? reportWords().pause : reportWords().resume}
      </button>
      <IconButton icon="trash" label={`${t().delete}: ${name}`} onClick={() => void remove()} />
    </li>
  );
}

interface DialogProps {
  /** Null: a new schedule, of the report in the address. */
  id: string | null;
  kinds: readonly ReportKind[];
  onClose: () => void;
  onChanged: () => void;
}

function ScheduleDialog({ id, kinds, onClose, onChanged }: DialogProps) {
  const edit = useSignal<Edit<Fields> | null>(null);
  const failure = useSignal<unknown>(null);
  useEffect(() => {
    const { timeZone } = preferences.peek();
    if (id === null) {
      const { query } = route.peek();
      const of = { name: query.get('name') ?? '', format: query.get('format'), language: language.peek() };
      const fields = newFields(questionOf(query, timeZone), lookOf(query), of, zoneOf(timeZone), user.peek());
      edit.value = editOf(fields, null, null);
      return;
    }
    readSchedule(id).then(
      ({ body, etag }) => {
        edit.value = editOf(body, etag, id);
      },
      (error: unknown) => {
        failure.value = error;
      },
    );
  }, [id]);
  return (
    <Dialog title={id === null ? reportWords().newSchedule : reportWords().schedule} isWide onClose={onClose}>
      {failure.value !== null ? (
        <Message icon="warning" title={describeError(failure.value)} />
      ) : edit.value === null ? (
        <Message title={t().loading} />
      ) : (
        <ScheduleForm
          edit={edit.value}
          kinds={kinds}
          id={id}
          onSaved={() => {
            onChanged();
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}

async function readSchedule(id: string) {
  const { body, etag } = await api.getTagged('/api/v1/report-schedules/{id}', { path: { id } });
  return { body: fieldsOf(body), etag };
}

function editOf(value: Fields, etag: string | null, id: string | null): Edit<Fields> {
  return new Edit<Fields>({
    value,
    etag,
    save: (fields, tag) =>
      id === null
        ? api.post('/api/v1/report-schedules', { body: bodyOfSchedule(fields, true) as NewReportSchedule })
        : api.patch('/api/v1/report-schedules/{id}', {
            path: { id },
            headers: tag === null ? {} : { 'If-Match': tag },
            body: bodyOfSchedule(fields, false) as ReportSchedulePatch,
          }),
    ...(id === null ? {} : { read: () => readSchedule(id) }),
  });
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

function ScheduleForm({
  edit,
  kinds,
  id,
  onSaved,
}: {
  edit: Edit<Fields>;
  kinds: readonly ReportKind[];
  id: string | null;
  onSaved: () => void;
}) {
  const value = edit.draft.value;
  const kind = kinds.find((one) => one.kind === value.kind);
  const emailErrors = ['/emails', ...value.emails.map((_, nth) => `/emails/${nth}`)].flatMap((at) => edit.at(at));
  const errorsAt = (name: string) => edit.at(`/${name === 'kind' ? 'eventKinds' : name}`);
  const words = reportWords();
  const typedEmails = useTyped(value.emails.join(', '), (text) => edit.set({ emails: addressesIn(text) }));
  const labels = useMemo(() => labelsOf(words), [words]);
  return (
    <>
      <EditForm
        edit={edit}
        labels={labels}
        saved={words.scheduleSaved}
        onSaved={onSaved}
        {...(id === null
          ? {}
          : {
              removal: {
                question: words.deleteSchedule(value.name),
                done: words.scheduleDeleted,
                run: (etag) =>
                  api.delete('/api/v1/report-schedules/{id}', {
                    path: { id },
                    headers: etag === null ? {} : { 'If-Match': etag },
                  }),
              },
            })}
      >
        <div class="fields">
          <TextField edit={edit} name="name" label={t().name} required maxLength={200} />
          <KindChoice
            kinds={kinds}
            value={value.kind}
            onChange={(chosen) =>
              edit.set({
                kind: chosen.kind,
                ...(chosen.formats.includes(value.format) ? {} : { format: 'xlsx' }),
                ...{ period: null, eventKinds: [], geozoneId: null, maxPoints: null },
                ...{ workHours: null, ecoWeights: null, sensors: [], driverIds: [], columns: null, groupBy: null },
              })
            }
          />
          {kind && (
            <QuestionFields
              kind={kind}
              value={{ ...value, shape: null }}
              errorsAt={errorsAt}
              hasShape={false}
              onChange={({ shape: _, ...part }) => edit.set(part as Partial<Fields>)}
            />
          )}
          <When edit={edit} />
          <FileFields edit={edit} kind={kind} />
          <Field label={words.emails} hint={words.emailsHint} name="emails" errors={emailErrors} {...typedEmails} />
        </div>
      </EditForm>
      {id !== null && <Delivered id={id} />}
    </>
  );
}

/** Names of the fields, for the display of a conflict. */
function labelsOf(words: ReturnType<typeof reportWords>) {
  return {
    name: t().name,
    kind: words.kind,
    format: words.format,
    frequency: words.frequency,
    hour: words.hour,
    covers: words.coversLabel,
    timeZone: t().timeZone,
    emails: words.emails,
    vehicleIds: t().vehicles,
    groupId: t().group,
    geozoneId: t().geofence,
    period: words.period,
    eventKinds: words.eventKinds,
    maxPoints: words.maxPoints,
    workHours: words.workHours,
    ecoWeights: words.ecoWeights,
    sensors: words.sensors,
    driverIds: t().pages.drivers,
    columns: words.columnChoice,
    groupBy: words.groupBy,
    language: words.fileLanguage,
    active: words.active,
  };
}

/** How often the report is made, and which days it covers. */
function When({ edit }: { edit: Edit<Fields> }) {
  const words = reportWords();
  return (
    <>
      <ChoiceField
        edit={edit}
        name="covers"
        label={words.coversLabel}
        options={(['yesterday', 'last-week', 'last-month'] as const).map((one) => [one, words.covers[one]])}
      />
      <ChoiceField
        edit={edit}
        name="frequency"
        label={words.frequency}
        options={(['daily', 'weekly', 'monthly'] as const).map((one) => [one, words.frequencies[one]])}
      />
      <ChoiceField
        edit={edit}
        name="hour"
        label={words.hour}
        options={HOURS.map((hour) => [String(hour), hourText(hour)])}
      />
      <TextField edit={edit} name="timeZone" label={t().timeZone} required />
    </>
  );
}

/** The file to send: its format, its grouping and its language. */
function FileFields({ edit, kind }: { edit: Edit<Fields>; kind: ReportKind | undefined }) {
  const { value } = edit.draft;
  const words = reportWords();
  return (
    <>
      <ChoiceField
        edit={edit}
        name="format"
        label={words.format}
        options={(kind?.formats ?? []).map((format) => [format, format.toUpperCase()])}
      />
      {kind && ['pdf', 'xlsx'].includes(value.format) && kind.groupings.length > 0 && (
        <Choice
          label={words.groupBy}
          value={value.groupBy ?? ''}
          onChange={(groupBy) => edit.set({ groupBy: groupBy === '' ? null : groupBy })}
        >
          <option value="" selected={value.groupBy === null}>
            {words.noGroups}
          </option>
          {kind.groupings.map((one) => (
            <option key={one} value={one} selected={one === value.groupBy}>
              {words.groupings[one]}
            </option>
          ))}
        </Choice>
      )}
      {value.format === 'pdf' && (
        <Choice
          label={words.fileLanguage}
          value={value.language ?? ''}
          onChange={(chosen) => edit.set({ language: chosen === '' ? null : chosen })}
        >
          <option value="" selected={value.language === null}>
            {words.ownLanguage}
          </option>
          {Object.entries(LANGUAGES).map(([tag, { name }]) => (
            <option key={tag} value={tag} selected={tag === value.language}>
              {name}
            </option>
          ))}
        </Choice>
      )}
    </>
  );
}

/** Whether recipients have confirmed, and the outcome of the last e-mails. */
function Delivered({ id }: { id: string }) {
  const schedule = useSignal<ReportSchedule | null>(null);
  useEffect(() => {
    api.get('/api/v1/report-schedules/{id}', { path: { id } }).then(
      (read) => {
        schedule.value = read;
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) toast(describeError(error), 'error');
      },
    );
  }, [id]);
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/report-schedules/{id}/deliveries', {
        path: { id },
        query: { limit: 20, ...(cursor === undefined ? {} : { cursor }) },
        signal,
      }),
    [id],
  );
  const words = reportWords();
  const items = list.items.value ?? [];
  const states = schedule.value?.emailStates ?? [];
  return (
    <div class="delivered">
      {states.length > 0 && (
        <section>
          <h3>{words.receivers}</h3>
          <ul>
            {states.map(({ address, state, suppressedToday }) => (
              <li key={address}>
                <span>
                  <bdi>{address}</bdi>
                </span>{' '}
                <small>{words.emailStates[state]}</small>
                {suppressedToday > 0 && <small class="error">{words.suppressed(suppressedToday)}</small>}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>{words.deliveries}</h3>
        {items.length === 0 ? (
          <p>{words.noDeliveries}</p>
        ) : (
          <ul>
            {items.map(({ id: deliveryId, address, state, createdAt, error }) => (
              <li key={deliveryId}>
                <time dateTime={createdAt}>{formats().moment(createdAt)}</time>{' '}
                <span>
                  <bdi>{address}</bdi>
                </span>{' '}
                <small class={state === 'failed' ? 'error' : ''}>
                  {words.deliveryStates[state]}
                  {error !== null && `: ${error}`}
                </small>
              </li>
            ))}
          </ul>
        )}
        {list.hasMore.value && (
          <button type="button" onClick={() => void list.more()}>
            {t().parts.showMore}
          </button>
        )}
      </section>
    </div>
  );
}
