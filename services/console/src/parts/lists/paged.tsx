import type { ComponentChildren } from 'preact';
import { describeError } from '../../errors.ts';
import { t } from '../../words/words.ts';
import { Failure, Message } from '../message.tsx';
import type { PagedList } from './pages.ts';

interface Props<T> {
  list: PagedList<T>;
  /** Shown in place of an empty list. */
  empty: ComponentChildren;
  /** Words of the button that reads the next page. */
  more?: string;
  children: (items: readonly T[]) => ComponentChildren;
}

/** A paged list, with replacements while it loads, fails, or is empty. */
export function Paged<T>({ list, empty, more, children }: Props<T>) {
  const items = list.items.value;
  const error = list.error.value;
  if (items === null)
    return error === null ? (
      <Message title={t().loading} />
    ) : (
      <Message icon="warning" title={describeError(error)} action={t().retry} onAction={() => void list.reload()} />
    );
  return (
    <>
      {error !== null && <Failure>{describeError(error)}</Failure>}
      {items.length === 0 ? empty : children(items)}
      {list.hasMore.value && (
        <button type="button" disabled={list.isLoading.value} onClick={() => void list.more()}>
          {more ?? t().parts.showMore}
        </button>
      )}
    </>
  );
}
