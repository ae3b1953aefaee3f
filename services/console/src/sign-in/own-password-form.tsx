import type { ComponentChildren } from 'preact';
import { Field } from '../parts/forms/field.tsx';
import { TaskForm } from '../parts/forms/task-form.tsx';
import { t } from '../words/words.ts';

interface Props {
  /** On the button. */
  action: string;
  run: (currentPassword: string, data: FormData) => Promise<void>;
  describe?: (error: unknown) => string;
  onCancel: () => void;
  /** What comes before the password. */
  children?: ComponentChildren;
}

/** Asks for the own password before something that a stolen session shall not do. */
export function OwnPasswordForm({ run, children, ...rest }: Props) {
  return (
    <TaskForm {...rest} pointers={['/currentPassword']} run={(data) => run(String(data.get('current')), data)}>
      {(at) => (
        <>
          {children}
          <Field
            label={t().currentPassword}
            name="current"
            type="password"
            autocomplete="current-password"
            required
            autoFocus={children === undefined}
            errors={at('/currentPassword')}
          />
        </>
      )}
    </TaskForm>
  );
}
