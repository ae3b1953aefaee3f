import type { DeadLetter } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { hexLines } from '../../parts/hex.ts';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Failure, Message } from '../../parts/message.tsx';
import { navigate, route, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { operatorWords } from './words.ts';

const PAGE = 100;
const SHOWN_BYTES = 16_384;

/** Records that could not be processed, with their bytes. */
export function DeadLettersTab() {
  const words = operatorWords();
  const list = usePages(
    (cursor, signal) =>
      api.get('/api/v1/operator/dead-letters', { query: { limit: PAGE, ...(cursor ? { cursor } : {}) }, signal }),
    [],
  );
  const openId = route.value.query.get('letter');
  const open = (id: string | null) => navigate(withQuery({ letter: id }));
  const columns: Column<DeadLetter>[] = [
    { key: 'at', title: words.putAside, cell: ({ at }) => formats().dateTime(at) },
    { key: 'topic', title: words.topic, cell: ({ topic, partition, offset }) => `${topic} ${partition}@${offset}` },
    { key: 'reader', title: words.reader, cell: ({ reader }) => reader },
    { key: 'bytes', title: words.size, cell: ({ bytes }) => formats().bytes(bytes), isNumber: true },
    { key: 'reason', title: words.reason, cell: ({ reason }) => <span title={reason}>{reason}</span> },
  ];
  const letter = list.items.value?.find(({ id }) => id === openId);
  return (
    <>
      <Paged list={list} empty={<Message icon="check" title={words.noDeadLetters} hint={words.noDeadLettersHint} />}>
        {(items) => (
          <Table
            label={words.tabs.deadLetters}
            columns={columns}
            rows={items}
            rowKey={({ id }) => id}
            onOpen={({ id }) => open(id)}
            currentKey={openId}
          />
        )}
      </Paged>
      {letter && <LetterDialog key={letter.id} letter={letter} onClose={() => open(null)} />}
    </>
  );
}

function LetterDialog({ letter, onClose }: { letter: DeadLetter; onClose: () => void }) {
  const words = operatorWords();
  const bytes = useSignal<Uint8Array | null>(null);
  const error = useSignal<string | null>(null);
  const href = `/api/v1/operator/dead-letters/file?id=${encodeURIComponent(letter.id)}`;
  useEffect(() => {
    if (letter.bytes === null) return;
    api
      .send('get', '/api/v1/operator/dead-letters/file', { query: { id: letter.id } })
      .then((answer) => answer.arrayBuffer())
      .then(
        (buffer) => {
          bytes.value = new Uint8Array(buffer);
        },
        (reason) => {
          error.value = describeError(reason);
        },
      );
  }, [letter.id]);
  const shown = bytes.value?.subarray(0, SHOWN_BYTES);
  return (
    <Dialog title={`${letter.topic} ${letter.partition}@${letter.offset}`} onClose={onClose} isWide>
      <p>{letter.reason}</p>
      {letter.bytes === null && <p>{words.notKept}</p>}
      {error.value !== null && <Failure>{error.value}</Failure>}
      {shown && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard.
        <section class="hex" tabIndex={0} aria-label={words.bytesOf}>
          <pre>{hexLines(shown).join('\n')}</pre>
        </section>
      )}
      {bytes.value && bytes.value.length > SHOWN_BYTES && (
        <small>{words.firstBytes(formats().bytes(SHOWN_BYTES))}</small>
      )}
      {letter.bytes !== null && (
        <div class="actions">
          <a class="button" href={href} download>
            <Icon name="download" /> {words.download}
          </a>
        </div>
      )}
      <small>{words.replayHint}</small>
    </Dialog>
  );
}
