import { useSignal } from '@preact/signals';
import { Icon } from '../parts/icon.tsx';
import { hasRight } from '../rights.ts';
import { user } from '../session.ts';
import { t } from '../words/words.ts';
import { ShareDialog } from './share-dialog.tsx';

export interface Shared {
  vehicleIds: readonly string[];
  /** The interval whose tracks are shared; if left out, the current positions of the vehicles. */
  track?: { fromMs: number; toMs: number };
}

/** Makes a link that shows vehicles to somebody without an account. */
export function ShareButton(shared: Shared) {
  const isOpen = useSignal(false);
  if (!user.value || !hasRight(user.value, 'share')) return null;
  return (
    <>
      <button
        type="button"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        <Icon name="share" /> {t().share.share}
      </button>
      {isOpen.value && (
        <ShareDialog
          {...shared}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}
