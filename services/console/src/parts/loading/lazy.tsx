import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { onMissingCode } from '../../installed/installed.ts';
import { loadPageWords } from '../../words/page-words.ts';
import { t } from '../../words/words.ts';
import { toast } from '../toast.tsx';
import { Loadable } from './loadable.ts';

/** Code that is loaded when first shown, together with its texts. */
export function loadableCode<T>(load: () => Promise<T>): Loadable<T> {
  const withWords = async () => {
    const code = await load();
    await loadPageWords();
    return code;
  };
  return new Loadable(withWords, () => void onMissingCode());
}

/**
 * A component whose code is loaded when it is first shown, and which is empty until then. If loading fails, a toast
 * reports it, and loading is retried while the component is to be shown.
 */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const code = loadableCode(load);
  return function Lazy(props: Props) {
    const Loaded = code.state.value;
    const isMissing = Loaded instanceof Error;
    useEffect(() => {
      if (isMissing) toast(t().notReached, 'error');
    }, [isMissing]);
    return Loaded === null || isMissing ? null : <Loaded {...props} />;
  };
}
