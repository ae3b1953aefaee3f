import type { ComponentChildren } from 'preact';
import { Field } from '../parts/forms/field.tsx';
import { TaskForm } from '../parts/forms/task-form.tsx';
import { t } from '../words/words.ts';

interface Props {
  /** Text of the button. */
  action: string;
  run: (currentPassword: string, data: FormData) => Promise<void>;
  describe?: (error: unknown) => string;
  onCancel: () => void;
  /** Fields before the password. */
  children?: ComponentChildren;
}

/** Asks for the user's own password before an action that a stolen session must not be able to do. */
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
