import { formats } from '../format.ts';
import { protectionWords } from './words.ts';

/** What a report says that it lacks, on its first page. */
export interface Missing {
  /** What was before is erased of some of the vehicles. */
  historyFrom?: string | undefined;
  /** Of when the archive has lost rows. */
  incomplete?: readonly { from: string; to: string }[] | undefined;
}

export function MissingNotes({ historyFrom, incomplete = [] }: Missing) {
  const format = formats();
  return (
    <>
      {historyFrom !== undefined && (
        <small role="note">{protectionWords().historyFrom(format.moment(historyFrom))}</small>
      )}
      {incomplete.map(({ from, to }) => (
        <small key={from} class="warning" role="note">
          {protectionWords().incomplete(format.dateTime(from), format.dateTime(to))}
        </small>
      ))}
    </>
  );
}
