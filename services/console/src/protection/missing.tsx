import { formats } from '../format.ts';
import { protectionWords } from './words.ts';

/** Missing data that a report names on its first page. */
export interface Missing {
  /** The history before this time was erased for some of the vehicles. */
  historyFrom?: string | undefined;
  /** Time ranges in which the archive has lost rows. */
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
