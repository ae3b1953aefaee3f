import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { toast } from './toast.tsx';

/**
 * A component whose code is loaded when it is first shown. It shows nothing until then; where the code can't be
 * loaded, a toast says why, and the next time it is shown it tries again.
 */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let code: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const loaded = useSignal(code);
    useEffect(() => {
      if (loaded.peek() !== null) return;
      load().then(
        (component) => {
          code = component;
          loaded.value = component;
        },
        (error: unknown) => toast(describeError(error), 'error'),
      );
    }, [loaded]);
    const Loaded = loaded.value;
    return Loaded === null ? null : <Loaded {...props} />;
  };
}
