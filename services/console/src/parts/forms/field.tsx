import type { ComponentChildren, ComponentProps } from 'preact';
import { useId } from 'preact/hooks';

type Props = ComponentProps<'input'> & {
  label: string;
  /** Errors of the API for this field. */
  errors?: readonly string[];
  /** Explains what to enter, if the label is not enough. */
  hint?: string;
};

/** An input with its label and its errors. */
export function Field({ label, errors = [], hint, ...input }: Props) {
  const id = useId();
  const isWrong = errors.length > 0;
  const descriptions = [hint && `${id}-hint`, isWrong && `${id}-errors`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} aria-invalid={isWrong} aria-describedby={descriptions || undefined} {...input} />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {isWrong && (
        <p id={`${id}-errors`} class="error">
          {errors.join('; ')}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ComponentChildren;
}

/** A select with its label. */
export function Choice({ label, value, onChange, children }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {children}
      </select>
    </div>
  );
}
