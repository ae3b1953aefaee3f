import type { ComponentChildren } from 'preact';
import { describeError } from '../../errors.ts';
import { t } from '../../words/words.ts';
import { SubmitButton } from '../buttons.tsx';
import { confirmed } from '../dialog.tsx';
import { Icon } from '../icon.tsx';
import { Failure } from '../message.tsx';
import { useUnsaved } from '../panel.tsx';
import { toast } from '../toast.tsx';
import type { Edit } from './edit.ts';
import { Choice, Field } from './field.tsx';

interface FormProps<T extends object> {
  edit: Edit<T>;
  /** Labels of the fields, with which a conflict is shown. */
  labels: Partial<Record<keyof T, string>>;
  /** Formats a field's value for people; by default as text, or as JSON. */
  describe?: (name: keyof T & string, value: unknown) => string | undefined;
  onSaved: () => void;
  saved: string;
  /** True while something else changes the resource: a save at this time would be refused as outdated. */
  isWaiting?: boolean;
  /** Deletes the resource, after a confirmation. */
  removal?: { question: string; run: (etag: string | null) => Promise<unknown>; done: string };
  /** Additional buttons. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A form for an `Edit`: its errors, conflicts with another user's change, save and delete. */
export function EditForm<T extends object>({
  edit,
  removal,
  saved,
  isWaiting = false,
  onSaved,
  children,
  ...rest
}: FormProps<T>) {
  useUnsaved(() => edit.isChanged.peek());
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(await edit.save())) return;
    toast(saved);
    onSaved();
  };
  const remove = async () => {
    if (removal === undefined || !(await confirmed(t().delete, removal.question, t().delete))) return;
    if (!(await edit.run(removal.run))) return;
    toast(removal.done);
    onSaved();
  };
  const isBusy = edit.isBusy.value || isWaiting;
  return (
    <form class="body" onSubmit={save}>
      {children}
      {edit.theirs.value === null ? <Errors edit={edit} /> : <Conflicts edit={edit} {...rest} />}
      <div class="actions">
        <SubmitButton disabled={isBusy || edit.theirs.value !== null}>{t().save}</SubmitButton>
        {rest.actions}
        {removal !== undefined && !edit.isNew && (
          <button type="button" disabled={isBusy} onClick={remove}>
            <Icon name="trash" /> {t().delete}
          </button>
        )}
      </div>
    </form>
  );
}

function Errors<T extends object>({ edit }: { edit: Edit<T> }) {
  const { value } = edit.error;
  if (value === null) return null;
  const others = edit.otherErrors;
  return <Failure>{others.length > 0 ? others.join('; ') : describeError(value)}</Failure>;
}

function Conflicts<T extends object>({ edit, labels, describe }: Pick<FormProps<T>, 'edit' | 'labels' | 'describe'>) {
  const text = (name: keyof T & string, value: unknown) =>
    describe?.(name, value) ?? (value === null ? '–' : typeof value === 'object' ? JSON.stringify(value) : `${value}`);
  return (
    <div class="conflict" role="alert">
      <p class="error">{t().parts.changedMeanwhile}</p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{t().parts.mine}</th>
            <th scope="col">{t().parts.theirs}</th>
          </tr>
        </thead>
        <tbody>
          {edit.conflicts.value.map(({ name, mine, theirs }) => (
            <tr key={name}>
              <th scope="row">{labels[name] ?? name}</th>
              <td>{text(name, mine)}</td>
              <td>{text(name, theirs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" onClick={() => edit.takeTheirs()}>
          {t().parts.takeTheirs}
        </button>
        <button type="button" onClick={() => edit.keepMine()}>
          {t().parts.keepMine}
        </button>
      </div>
    </div>
  );
}

type NamesOf<T, V> = { [K in keyof T]-?: T[K] extends V ? K : never }[keyof T] & string;
export interface Rest {
  required?: boolean;
  disabled?: boolean;
  maxLength?: number;
  min?: number;
  max?: number;
  step?: number | 'any';
  placeholder?: string;
  autocomplete?: AutoFill;
  inputMode?: 'numeric' | 'decimal' | 'email' | 'url' | 'tel';
}
type TextType = 'text' | 'email' | 'password' | 'url' | 'tel' | 'color';
interface Bound {
  label: string;
  hint?: string;
  /** JSON pointer of the field in the body, where it is not `/name`. */
  pointer?: string;
}

export function TextField<T extends object>({
  edit,
  name,
  pointer = `/${name}`,
  type = 'text',
  isNullable = false,
  ...rest
}: Rest &
  Bound & { edit: Edit<T>; name: NamesOf<T, string | null | undefined>; type?: TextType; isNullable?: boolean }) {
  return (
    <Field
      {...rest}
      name={name}
      // The props of an input depend on a literal type.
      {...({ type } as { type: 'text' })}
      errors={edit.at(pointer)}
      value={(edit.draft.value[name] as string | null | undefined) ?? ''}
      onInput={({ currentTarget: { value } }) =>
        edit.set({ [name]: isNullable && value === '' ? null : value } as Partial<T>)
      }
    />
  );
}

/** Number input; empty is null. */
export function NumberField<T extends object>({
  edit,
  name,
  pointer = `/${name}`,
  ...rest
}: Rest & Bound & { edit: Edit<T>; name: NamesOf<T, number | null | undefined> }) {
  return (
    <Field
      step="any"
      {...rest}
      name={name}
      type="number"
      errors={edit.at(pointer)}
      value={(edit.draft.value[name] as number | null | undefined) ?? ''}
      onInput={({ currentTarget: { value, valueAsNumber } }) =>
        edit.set({ [name]: value === '' || Number.isNaN(valueAsNumber) ? null : valueAsNumber } as Partial<T>)
      }
    />
  );
}

export function CheckField<T extends object>({
  edit,
  name,
  label,
  hint,
  pointer = `/${name}`,
}: Bound & { edit: Edit<T>; name: NamesOf<T, boolean | undefined> }) {
  const errors = edit.at(pointer);
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name={name}
          checked={Boolean(edit.draft.value[name])}
          onChange={({ currentTarget: { checked } }) => edit.set({ [name]: checked } as Partial<T>)}
        />
        <span>{label}</span>
      </label>
      {hint && <small>{hint}</small>}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </div>
  );
}

/** Select element. `options` are values with their labels; '' stands for null. */
export function ChoiceField<T extends object>({
  edit,
  name,
  label,
  options,
  pointer = `/${name}`,
}: Bound & {
  edit: Edit<T>;
  name: NamesOf<T, string | null | undefined>;
  options: readonly (readonly [value: string, word: string])[];
}) {
  const value = (edit.draft.value[name] as string | null | undefined) ?? '';
  const errors = edit.at(pointer);
  return (
    <>
      <Choice
        label={label}
        value={value}
        onChange={(chosen) => edit.set({ [name]: chosen === '' ? null : chosen } as Partial<T>)}
      >
        {options.map(([one, word]) => (
          <option key={one} value={one} selected={one === value}>
            {word}
          </option>
        ))}
      </Choice>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </>
  );
}
