import type { NotificationRule } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { commandWords } from '../../commands/command-words.ts';
import { commandText } from '../../commands/words.ts';
import { drivers } from '../../drivers/drivers.ts';
import { describeError } from '../../errors.ts';
import { fleet, geofences, groups } from '../../fleet/store.ts';
import { Edit, editStored } from '../../parts/forms/edit.ts';
import { CheckField, EditForm, TextField } from '../../parts/forms/edit-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { preferences } from '../../preferences.ts';
import { navigate, route, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { unisolated } from '../../words/isolate.ts';
import { joined, t } from '../../words/words.ts';
import { channelWords } from '../me/channel-words.ts';
import { Channels } from './channels.tsx';
import { CommandAction } from './command-action.tsx';
import { bodyOf, fieldsOf, isLicenceRule, newRule, type RuleCommand, type RuleFields } from './draft.ts';
import { kindName } from './kind-name.ts';
import { MessageTemplate } from './message.tsx';
import { SecretDialog } from './secret.tsx';
import { Selection } from './selection.tsx';
import { Severity } from './severity.tsx';
import { Times } from './times.tsx';
import { Trial } from './trial.tsx';
import { ruleWords } from './words.ts';

interface Props {
  /** `new`, or the id of a rule. */
  id: string;
  onClose: () => void;
  /** Called with the id of the saved rule; null: it was deleted. */
  onSaved: (id: string | null) => void;
}

/** State of the panel once the rule is loaded. */
interface Opened {
  edit: Edit<RuleFields>;
  /** Null: a new one. */
  rule: NotificationRule | null;
}

/** One rule: what it selects, how it notifies, a trial on last week. */
export function RulePanel({ id, onClose, onSaved }: Props) {
  const opened = useSignal<Opened | { error: string } | null>(null);
  const secret = useSignal<string | null>(null);
  const copyOf = route.value.query.get('copy');
  const savedId = useRef(id);
  const save = useMemo(
    () => async (fields: Partial<RuleFields>, etag: string | null) => {
      const body = bodyOf(fields);
      const headers = etag === null ? {} : { 'If-Match': etag };
      const saved =
        id === 'new'
          ? await api.post('/api/v1/notification-rules', { body: body as never })
          : await api.patch('/api/v1/notification-rules/{id}', { path: { id }, headers, body: body as never });
      savedId.current = saved.id;
      secret.value = saved.webhook?.secret ?? null;
    },
    [id],
  );
  const load = async () => {
    opened.value = null;
    try {
      opened.value = id === 'new' ? await openNew(copyOf, save) : await openStored(id, save);
    } catch (error) {
      opened.value = { error: describeError(error) };
    }
  };
  useEffect(() => void load(), [id, copyOf]);
  const value = opened.value;
  const title = value !== null && 'edit' in value && value.rule !== null ? value.rule.name : ruleWords().new;
  return (
    <Panel
      kind="side-panel"
      label={title}
      onClose={onClose}
      head={
        <h2>
          <bdi>{title}</bdi>
        </h2>
      }
    >
      <div class="scrolled">
        {value === null ? (
          <Message title={t().loading} />
        ) : 'error' in value ? (
          <Message icon="warning" title={value.error} action={t().retry} onAction={() => void load()} />
        ) : (
          <RuleForm
            {...value}
            onSecret={(shown) => (secret.value = shown)}
            onRule={(rule) => (opened.value = { ...value, rule })}
            onSaved={(isDeleted) => {
              if (isDeleted || secret.peek() === null) onSaved(isDeleted ? null : savedId.current);
            }}
          />
        )}
      </div>
      {secret.value !== null && (
        <SecretDialog
          secret={secret.value}
          onClose={() => {
            secret.value = null;
            onSaved(savedId.current);
          }}
        />
      )}
    </Panel>
  );
}

type Save = (fields: Partial<RuleFields>, etag: string | null) => Promise<unknown>;

async function openNew(copyOf: string | null, save: Save): Promise<Opened> {
  const timeZone = preferences.peek().timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const source = copyOf === null ? null : await api.get('/api/v1/notification-rules/{id}', { path: { id: copyOf } });
  const value =
    source === null
      ? newRule(timeZone)
      : { ...fieldsOf(source), name: unisolated(ruleWords().copyOf(source.name)), active: true };
  return { edit: new Edit<RuleFields>({ value, etag: null, save }), rule: null };
}

async function openStored(id: string, save: Save): Promise<Opened> {
  const read = () => api.getTagged('/api/v1/notification-rules/{id}', { path: { id } });
  const { edit, entity: rule } = await editStored<NotificationRule, RuleFields>({ read, draftOf: fieldsOf, save });
  return { edit, rule };
}

interface FormProps extends Opened {
  onSecret: (secret: string) => void;
  /** Called when the rule was changed outside the form. */
  onRule: (rule: NotificationRule) => void;
  onSaved: (isDeleted: boolean) => void;
}

function RuleForm({ edit, rule, onSecret, onRule, onSaved }: FormProps) {
  const words = ruleWords();
  const isDeleted = useRef(false);
  const removal =
    rule === null
      ? undefined
      : {
          question: words.deleteQuestion(rule.name),
          run: async (etag: string | null) => {
            const headers = etag === null ? {} : { 'If-Match': etag };
            await api.delete('/api/v1/notification-rules/{id}', { path: { id: rule.id }, headers });
            isDeleted.current = true;
          },
          done: words.deleted,
        };
  const duplicate = () => navigate(withQuery({ rule: 'new', copy: rule?.id ?? null }));
  return (
    <>
      <EditForm
        edit={edit}
        labels={labels()}
        describe={describe}
        saved={words.saved}
        onSaved={() => onSaved(isDeleted.current)}
        {...(removal ? { removal } : {})}
        actions={
          rule !== null && (
            <button type="button" onClick={duplicate}>
              <Icon name="copy" /> {words.duplicate}
            </button>
          )
        }
      >
        <TextField edit={edit} name="name" label={t().name} required maxLength={200} />
        <CheckField
          edit={edit}
          name="active"
          label={words.active}
          {...(rule?.inactiveReason ? { hint: words.inactive[rule.inactiveReason] ?? '' } : {})}
        />
        <Selection edit={edit} />
        <Times edit={edit} />
        <Severity edit={edit} rule={rule} />
        <Channels edit={edit} rule={rule} onSecret={onSecret} onRule={onRule} />
        <MessageTemplate edit={edit} />
        {!isLicenceRule(edit.draft.value) && <CommandAction edit={edit} />}
      </EditForm>
      {!isLicenceRule(edit.draft.value) && <Trial edit={edit} ruleId={rule?.id ?? null} />}
    </>
  );
}

function labels(): Partial<Record<keyof RuleFields, string>> {
  const words = ruleWords();
  return {
    ...{ name: t().name, active: words.active, eventKinds: words.kinds, phases: words.notifyAt, alarms: words.alarms },
    sensors: words.sensors,
    ...{ vehicleIds: words.vehicles, groupIds: words.groups, geofenceIds: words.geofences, days: words.days },
    ...{
      hours: `${words.hoursFrom} – ${words.hoursTo}`,
      timeZone: t().timeZone,
      minIntervalMinutes: words.minInterval,
    },
    ...{ maxDataAgeMinutes: words.maxAge, emails: words.emails, webhook: words.webhookUrl },
    command: commandWords().ofRule,
    ...{ severity: words.severity, shared: words.shared, escalateAfterMinutes: words.escalateAfter },
    escalateTo: words.escalateTo,
    ...{
      messageTemplate: channelWords().template,
      messageTemplates: channelWords().template,
      language: channelWords().language,
      push: channelWords().push,
      channelIds: channelWords().chosen,
      minDurationMinutes: words.minDuration,
    },
    ...{ insideGeofenceIds: words.insideGeofences, outsideGeofenceIds: words.outsideGeofences },
    ...{ driver: words.driver, driverIds: words.drivers, driverGroupIds: words.driverGroups },
    licenceWarningDays: words.licenceWarning,
  };
}

/** Readable text of a field's value, for the display of a conflict. */
function describe(name: string, value: unknown): string | undefined {
  const words = ruleWords();
  if (name === 'webhook') return (value as RuleFields['webhook'])?.url ?? '–';
  if (name === 'command') return value === null ? '–' : commandText(value as RuleCommand);
  if (name === 'hours') return value === null ? words.allDay : Object.values(value as object).join(' – ');
  if (name === 'days') {
    const days = value as RuleFields['days'];
    if (days.on === 'dates') return `${days.from} – ${days.to}`;
    return days.on === 'daily' ? words.dayKinds.daily : days.weekdays.join(', ');
  }
  if (name === 'driver') return words.driverConditions[(value as RuleFields['driver']) ?? 'any'];
  if (name === 'messageTemplates') return Object.values(value as object).join('; ') || '–';
  if (!Array.isArray(value)) return undefined;
  const nameOf = (one: string) => {
    if (name === 'eventKinds') return kindName(one);
    if (name === 'alarms') return t().alerts.alarmNames[one] ?? one;
    if (name === 'phases') return words.phases[one as 'begin' | 'end'];
    if (name === 'vehicleIds') return fleet.vehicles.find(({ id }) => id === one)?.name ?? one;
    if (name === 'driverIds') return drivers.value?.find(({ id }) => id === one)?.name ?? one;
    if (name === 'groupIds' || name === 'driverGroupIds') return groups.value.find(({ id }) => id === one)?.name ?? one;
    if (name.endsWith('eofenceIds')) return geofences.value.find(({ id }) => id === one)?.properties.name ?? one;
    return one;
  };
  return joined(value.map(nameOf), ', ');
}
