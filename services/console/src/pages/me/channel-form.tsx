import { ApiError, type MessageChannel } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { CancelButton } from '../../parts/buttons.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Failure } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { type ChannelField, type ChannelKindName, type ChannelSettings, KINDS, said } from './channel-kind.ts';
import { channelWords } from './channel-words.ts';

interface FormProps {
  /** The channel to edit, or the name of a kind for a new one. */
  edited: MessageChannel | ChannelKindName;
  onSaved: () => void;
  onCancel: () => void;
}

/** The form of a channel, by the description of its kind. */
export function ChannelForm({ edited, onSaved, onCancel }: FormProps) {
  const words = channelWords();
  const current = typeof edited === 'string' ? null : edited;
  const kind = typeof edited === 'string' ? edited : edited.kind;
  const form = KINDS[kind];
  const fields = Object.entries(form.fields);
  const name = useSignal(current?.name ?? said(form.name));
  const secret = useSignal('');
  const settings = useSignal<ChannelSettings>({
    ...Object.fromEntries(fields.map(([key, field]) => [key, initialOf(field)])),
    ...current?.settings,
  });
  const error = useSignal<unknown>(null);
  const at = (pointer: string) => (error.value instanceof ApiError ? [...error.value.at(pointer)] : []);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = fields.map(([key, field]) => {
      const value = settings.value[key];
      return [key, field.type === 'text' && !field.isLong ? String(value).trim() : value];
    });
    const body = {
      name: name.value,
      ...(fields.length > 0 && { settings: Object.fromEntries(given) }),
      ...(secret.value !== '' && { secret: secret.value }),
    };
    try {
      if (current !== null) await api.patch('/api/v1/me/message-channels/{id}', { path: { id: current.id }, body });
      // The kind determines the type of the settings.
      else await api.post('/api/v1/me/message-channels', { body: { kind, ...body } as never });
      onSaved();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <form class="form" onSubmit={save}>
      <Field
        label={t().name}
        required
        maxLength={100}
        value={name.value}
        errors={at('/name')}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      {form.note && (
        <p>
          <small>{said(form.note)}</small>
        </p>
      )}
      {fields
        .filter(([, { onlyWith }]) => !onlyWith || onlyWith.values.includes(String(settings.value[onlyWith.setting])))
        .map(([key, field]) => (
          <SettingField
            key={key}
            field={field}
            value={settings.value[key]}
            at={(rest = '') => at(`/settings/${key}${rest}`)}
            onChange={(value) => (settings.value = { ...settings.value, [key]: value })}
          />
        ))}
      {form.secret.label && (
        <Field
          label={said(form.secret.label)}
          hint={current?.hasSecret ? words.secretKept : form.secret.hint && said(form.secret.hint)}
          type="password"
          autocomplete="off"
          required={form.secret.isRequired && current === null}
          value={secret.value}
          errors={at('/secret')}
          onInput={(event) => (secret.value = event.currentTarget.value)}
        />
      )}
      {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{t().save}</button>
        <CancelButton onClick={onCancel} />
      </div>
    </form>
  );
}

function initialOf(field: ChannelField): unknown {
  if (field.type === 'headers') return [];
  return (field.type === 'text' ? (field.suggested ?? field.default) : field.default) ?? '';
}

interface SettingProps {
  field: ChannelField;
  value: unknown;
  at: (rest?: string) => string[];
  onChange: (value: unknown) => void;
}

function SettingField({ field, value, at, onChange }: SettingProps) {
  const { hint } = field;
  const label = field.label ? said(field.label) : '';
  if (field.type === 'headers') return <HeaderField label={label} value={value} at={at} onChange={onChange} />;
  if (field.type === 'choice')
    return (
      <Choice label={label} value={String(value)} onChange={onChange}>
        {field.values.map((each) => (
          <option key={each} selected={each === value}>
            {each}
          </option>
        ))}
      </Choice>
    );
  if (field.isLong) return <LongField label={label} rows={4} value={String(value)} errors={at()} onChange={onChange} />;
  return (
    <Field
      label={label}
      {...(hint && { hint: said(hint) })}
      required={field.default === undefined}
      {...(field.maxChars !== undefined && { maxLength: field.maxChars })}
      placeholder={field.placeholder}
      value={String(value)}
      errors={at()}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface Header {
  name: string;
  value: string;
}

function HeaderField({ label, value, at, onChange }: Omit<SettingProps, 'field'> & { label: string }) {
  const headers = value as readonly Header[];
  const typed = useSignal(headers.map((each) => `${each.name}: ${each.value}`).join('\n'));
  const read = (text: string) => {
    typed.value = text;
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    onChange(
      lines.map((line) => ({
        name: line.split(':', 1)[0]?.trim() ?? '',
        value: line.slice(line.indexOf(':') + 1).trim(),
      })),
    );
  };
  const errors = headers.flatMap((_, nth) => [...at(`/${nth}/name`), ...at(`/${nth}/value`)]);
  return <LongField label={label} rows={2} value={typed.value} errors={errors} onChange={read} />;
}

interface LongProps {
  label: string;
  rows: number;
  value: string;
  errors: readonly string[];
  onChange: (value: string) => void;
}

/** Multi-line text in a machine-readable format. */
function LongField({ label, rows, value, errors, onChange }: LongProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        rows={rows}
        dir="ltr"
        value={value}
        aria-invalid={errors.length > 0}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {errors.length > 0 && <span class="error">{errors.join('; ')}</span>}
    </label>
  );
}
