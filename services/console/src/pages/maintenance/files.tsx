import type { ServiceRecord } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { maintenanceWords } from '../../maintenance/words.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

const PATH = '/api/v1/vehicles/{id}/service-records/{recordId}/files';
const TYPES = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp'];
const MAX_BYTES = 5 * 1024 * 1024;

/** Files of a service: open, upload and delete. */
export function ServiceFiles(props: {
  vehicleId: string;
  record: ServiceRecord;
  maintains: boolean;
  onChanged: () => void;
}) {
  const { vehicleId, record, maintains, onChanged } = props;
  const words = maintenanceWords();
  const isPutting = useSignal(false);
  const path = { id: vehicleId, recordId: record.id };
  const put = async (file: File) => {
    if (!TYPES.includes(file.type) || file.size > MAX_BYTES) return toast(words.fileRefused, 'error');
    isPutting.value = true;
    try {
      await api.post(PATH, { path, body: { name: file.name.slice(-100), content: await base64Of(file) } });
      onChanged();
    } catch (reason) {
      toast(describeError(reason), 'error');
    } finally {
      isPutting.value = false;
    }
  };
  const remove = async ({ id, name }: ServiceRecord['files'][number]) => {
    if (!(await confirmed(t().delete, words.deleteFile(name), t().delete))) return;
    try {
      await api.delete(`${PATH}/{fileId}`, { path: { ...path, fileId: id } });
      onChanged();
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  return (
    <>
      {record.files.length > 0 && (
        <ul class="files">
          {record.files.map((file) => (
            <li key={file.id}>
              <a
                href={`/api/v1/vehicles/${vehicleId}/service-records/${record.id}/files/${file.id}`}
                download={file.name}
              >
                <Icon name="download" /> <bdi>{file.name}</bdi>
              </a>{' '}
              <small>{formats().bytes(file.bytes)}</small>
              {maintains && (
                <button
                  type="button"
                  class="icon"
                  aria-label={`${t().delete}: ${file.name}`}
                  onClick={() => void remove(file)}
                >
                  <Icon name="trash" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {maintains && (
        <label class="button" aria-disabled={isPutting.value}>
          <Icon name="plus" /> {isPutting.value ? t().loading : words.addFile}
          <input
            class="hidden"
            type="file"
            accept={TYPES.join(',')}
            aria-label={`${words.addFile}: ${record.title}`}
            disabled={isPutting.value}
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              event.currentTarget.value = '';
              if (file !== undefined) void put(file);
            }}
          />
        </label>
      )}
    </>
  );
}

/** Base64 of a file, converted in chunks: a single call with all bytes as arguments would be too large. */
async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
