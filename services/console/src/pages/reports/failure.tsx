import { describeError } from '../../errors.ts';
import { Message } from '../../parts/message.tsx';
import { t } from '../../words/words.ts';

/** What stands in place of what could not be read. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return <Message icon="warning" title={describeError(error)} action={t().retry} onAction={onRetry} />;
}
