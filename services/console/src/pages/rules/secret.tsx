import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { t } from '../../words/words.ts';
import { ruleWords } from './words.ts';

/** Shows the secret of a webhook, which is displayed only once. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const copy = async () => {
    await navigator.clipboard?.writeText(secret);
    toast(ruleWords().copied);
  };
  return (
    <Dialog title={ruleWords().secretTitle} onClose={onClose}>
      <p>{ruleWords().secretHint}</p>
      <output class="secret">{secret}</output>
      <div class="actions">
        {navigator.clipboard !== undefined && (
          <button type="button" class="primary" onClick={() => void copy()}>
            <Icon name="copy" /> {ruleWords().copy}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {t().close}
        </button>
      </div>
    </Dialog>
  );
}
