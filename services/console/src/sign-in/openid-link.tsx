import type { OpenIdLink } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { Dialog } from '../parts/dialog.tsx';
import { toast } from '../parts/toast.tsx';
import { navigate, route } from '../router.ts';
import { api } from '../session.ts';
import { OwnPasswordForm } from './own-password-form.tsx';
import { signInWords } from './words.ts';

/** Links the user's own account to the configured OpenID provider, or unlinks it. */
export function OpenIdSection() {
  const words = signInWords().openId;
  const state = useSignal<OpenIdLink | null>(null);
  const isAsked = useSignal(false);
  const read = () =>
    api.get('/api/v1/me/openid').then(
      (known) => (state.value = known),
      (reason: unknown) => toast(describeError(reason), 'error'),
    );
  useEffect(() => {
    void read();
    const outcome = route.peek().query.get('openId');
    if (outcome === null) return;
    if (outcome === 'linked') toast(words.nowLinked);
    else toast(outcome === 'taken' ? words.taken : words.linkFailed, 'error');
    navigate('/me', { replace: true });
  }, []);
  if (state.value === null || state.value.name === null) return null;
  const { name, linked } = state.value;
  const action = linked ? words.unlink : words.link;
  const run = async (currentPassword: string) => {
    const body = { currentPassword };
    if (!linked) return location.assign((await api.post('/api/v1/me/openid/link', { body })).url);
    await api.post('/api/v1/me/openid/unlink', { body });
    toast(words.unlinked);
    isAsked.value = false;
    await read();
  };
  return (
    <section class="card" aria-labelledby="me-openid">
      <h2 id="me-openid">{words.title(name)}</h2>
      <small>{words.hint}</small>
      <p>{linked ? words.linked : words.notLinked}</p>
      <div class="actions">
        <button type="button" onClick={() => (isAsked.value = true)}>
          {action}
        </button>
      </div>
      {isAsked.value && (
        <Dialog title={words.title(name)} onClose={() => (isAsked.value = false)}>
          <OwnPasswordForm action={action} run={run} onCancel={() => (isAsked.value = false)} />
        </Dialog>
      )}
    </section>
  );
}
