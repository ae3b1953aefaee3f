import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Edit } from '../parts/forms/edit.ts';
import { Field } from '../parts/forms/field.tsx';
import { attributesIn, attributesText, type CustomDraft } from './attributes.ts';
import { customFieldWords } from './words.ts';

interface Props {
  value: CustomDraft;
  onChange: (fields: Partial<CustomDraft>) => void;
  /** Errors of the API, by field. */
  errors: { externalId: readonly string[]; customAttributes: readonly string[] };
}

/** Inputs for the external id and the custom attributes of any object that has them. */
export function CustomFieldInputs({ value: { externalId, customAttributes }, onChange, errors }: Props) {
  const words = customFieldWords();
  const id = useId();
  const typed = useSignal<string | null>(null);
  const read = attributesIn(typed.value ?? '');
  const problems = [...('wrongLine' in read ? [words.badLine(read.wrongLine)] : []), ...errors.customAttributes];
  const isOpen = externalId !== null || Object.keys(customAttributes).length > 0;
  return (
    <details open={isOpen || problems.length > 0 || errors.externalId.length > 0}>
      <summary>{words.title}</summary>
      <Field
        label={words.externalId}
        name="externalId"
        hint={words.externalIdHint}
        maxLength={100}
        value={externalId ?? ''}
        errors={errors.externalId}
        onInput={({ currentTarget: { value } }) => onChange({ externalId: value === '' ? null : value })}
      />
      <div class="field">
        <label for={id}>{words.attributes}</label>
        <textarea
          id={id}
          name="customAttributes"
          dir="ltr"
          rows={Math.min(8, Math.max(2, Object.keys(customAttributes).length + 1))}
          spellcheck={false}
          aria-invalid={problems.length > 0}
          aria-describedby={`${id}-hint`}
          value={typed.value ?? attributesText(customAttributes)}
          onInput={({ currentTarget: input }) => {
            typed.value = input.value;
            const now = attributesIn(input.value);
            // Blocks submission of the form while a line cannot be parsed.
            input.setCustomValidity('wrongLine' in now ? words.badLine(now.wrongLine) : '');
            if ('attributes' in now) onChange({ customAttributes: now.attributes });
          }}
        />
        <small id={`${id}-hint`}>{words.attributesHint}</small>
        {problems.length > 0 && <p class="error">{problems.join('; ')}</p>}
      </div>
    </details>
  );
}

/** As {@link CustomFieldInputs}, in a form on an `Edit`. */
export function CustomFields<T extends CustomDraft>({ edit }: { edit: Edit<T> }) {
  const { customAttributes } = edit.draft.value;
  const pointers = ['/customAttributes', ...Object.keys(customAttributes).map((name) => `/customAttributes/${name}`)];
  return (
    <CustomFieldInputs
      value={edit.draft.value}
      onChange={(fields) => edit.set(fields as Partial<T>)}
      errors={{
        externalId: edit.at('/externalId'),
        customAttributes: pointers.flatMap((pointer) => edit.at(pointer)),
      }}
    />
  );
}
