import type { FieldRule } from '@outrider/client';
import type { Edit } from './edit.ts';
import { NumberField, type Rest, TextField } from './edit-form.tsx';
import { Field } from './field.tsx';

interface Props<T extends object> extends Rest {
  edit: Edit<T>;
  name: keyof T & string;
  rule: FieldRule;
  label: string;
  hint?: string;
}

type Texts = Record<string, string | null>;
type Numbers = Record<string, number | null>;

/** A field according to its rule in the API: text, number or date, with its limits. */
export function PlainField<T extends object>(props: Props<T>) {
  const { edit, rule, name, ...rest }: Omit<Props<T>, 'name'> & { name: string } = props;
  const texts = edit as unknown as Edit<Texts>;
  const { type, isRequired, isNullable, minimum, maximum, maxLength } = rule;
  if (type === 'date')
    return (
      <Field
        {...rest}
        name={name}
        type="date"
        required={isRequired}
        errors={edit.at(`/${name}`)}
        value={texts.draft.value[name] ?? ''}
        onInput={({ currentTarget: { value } }) => texts.set({ [name]: value === '' ? null : value })}
      />
    );
  if (type === 'text') {
    const limit = maxLength === undefined ? {} : { maxLength };
    return (
      <TextField<Texts> {...rest} {...limit} edit={texts} name={name} required={isRequired} isNullable={isNullable} />
    );
  }
  const limits = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  };
  const numbers = edit as unknown as Edit<Numbers>;
  const step = type === 'integer' ? 1 : 'any';
  return <NumberField<Numbers> {...rest} {...limits} edit={numbers} name={name} required={!isNullable} step={step} />;
}

type Rules = Readonly<Record<string, FieldRule>>;
type ValueOf<Rule extends FieldRule> =
  | (Rule extends { type: 'number' | 'integer' } ? number : string)
  | (Rule extends { isNullable: true } ? null : never);

/** Initial values of a new object's fields: the defaults of the API, otherwise empty. */
export function blankOf<R extends Rules>(rules: R): { -readonly [Name in keyof R]: ValueOf<R[Name]> } {
  const blanks = Object.entries(rules).map(([name, rule]) => [name, rule.default ?? (rule.isNullable ? null : '')]);
  return Object.fromEntries(blanks);
}
