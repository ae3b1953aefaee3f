import { setQuery } from '../../router.ts';
import { t } from '../../words/words.ts';

/** Search field of a page: parameter `q` of its address. */
export function SearchField({ value, placeholder }: { value: string | null; placeholder: string }) {
  return (
    <input
      type="search"
      aria-label={t().search}
      placeholder={placeholder}
      value={value ?? ''}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  );
}
