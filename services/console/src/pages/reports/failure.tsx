import { describeError } from '../../errors.ts';
import { Message } from '../../parts/message.tsx';
import { t } from '../../words/words.ts';

/** Shown in place of data that could not be loaded. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return <Message icon="warning" title={describeError(error)} action={t().retry} onAction={onRetry} />;
}
