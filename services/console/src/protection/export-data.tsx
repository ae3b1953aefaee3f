import { useSignal } from '@preact/signals';
import { describeError } from '../errors.ts';
import { hasEnded, useJob } from '../parts/loading/jobs.ts';
import { Failure } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { protectionWords } from './words.ts';

interface Props {
  person: 'user' | 'driver';
  id: string;
  isOwn?: boolean;
}

const PATHS = { user: '/api/v1/users/{id}/export', driver: '/api/v1/drivers/{id}/export' } as const;

/** Creates a file with all data about a person, and offers it once it is done. */
export function ExportData({ person, id, isOwn = false }: Props) {
  const words = protectionWords();
  const asked = useSignal<string | null>(null);
  const isAsking = useSignal(false);
  const { job, error } = useJob(asked.value);
  const begin = async () => {
    isAsking.value = true;
    try {
      asked.value = (await api.post(PATHS[person], { path: { id } })).id;
    } catch (reason) {
      toast(describeError(reason), 'error');
    } finally {
      isAsking.value = false;
    }
  };
  const known = job.value;
  const file = known?.kind === 'person-export' && known.state === 'done' ? known.result : null;
  const isMaking = isAsking.value || (asked.value !== null && !(known !== null && hasEnded(known)));
  return (
    <section class="body" aria-label={words.title}>
      <h3>{words.title}</h3>
      <small>{words.exportHint}</small>
      <div class="actions" role="status">
        {file !== null && (
          <a class="button" href={file.url} download={file.name}>
            {words.save}
          </a>
        )}
        <button type="button" disabled={isMaking} onClick={begin}>
          {isMaking ? words.exporting : file !== null ? words.again : isOwn ? words.exportMine : words.export}
        </button>
      </div>
      {(error.value !== null || known?.state === 'failed') && (
        <Failure>
          {known?.state === 'failed' ? `${words.exportFailed}: ${known.error ?? ''}` : describeError(error.value)}
        </Failure>
      )}
    </section>
  );
}
