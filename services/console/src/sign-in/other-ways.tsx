import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Failure } from '../parts/message.tsx';
import { route } from '../router.ts';
import { api, enter } from '../session.ts';
import { t } from '../words/words.ts';
import { askPasskey, canOfferPasskeys, describePasskeyError, isWrongPasskey, supportsPasskeys } from './passkeys.ts';
import { signInWords } from './words.ts';

/** Challenges of passkeys are good for ten minutes. */
const OFFER_MS = 540_000;

/** Ways to log in other than login and password, if the service has any, and the reason for the last failure. */
export function OtherWays() {
  const words = signInWords();
  const name = useSignal<string | null>(null);
  const hasPasskeys = useSignal(false);
  const error = useSignal<string | null>(null);
  /** Ends the offer in the login field: a browser asks for only one passkey at a time. */
  const offer = useSignal(new AbortController());
  useEffect(() => {
    api.get('/auth/options').then(
      ({ openId, passkeyOrigin }) => {
        name.value = openId?.name ?? null;
        hasPasskeys.value = passkeyOrigin === location.origin && supportsPasskeys();
        if (hasPasskeys.value) void offerPasskeys();
      },
      // Login and password work without these options.
      () => {},
    );
    return () => offer.peek().abort();
  }, []);

  /** Offers passkeys in the browser's autofill, as long as the page is open. */
  const offerPasskeys = async () => {
    const { signal } = offer.peek();
    if (!(await canOfferPasskeys())) return;
    while (!signal.aborted) {
      const timeout = AbortSignal.timeout(OFFER_MS);
      const isGoingOn = await signIn(AbortSignal.any([signal, timeout]), 'conditional');
      if (!isGoingOn && !timeout.aborted) return;
    }
  };
  /** @returns whether another passkey may be tried */
  const signIn = async (signal: AbortSignal, mediation?: CredentialMediationRequirement): Promise<boolean> => {
    try {
      await api.post('/auth/passkey', { body: await askPasskey(signal, mediation) });
      await enter();
      return false;
    } catch (reason) {
      // The offer in the login field may end without a choice.
      if (signal.aborted || (mediation === 'conditional' && reason instanceof DOMException)) return false;
      error.value = describePasskeyError(reason);
      return isWrongPasskey(reason);
    }
  };
  const choose = async () => {
    offer.peek().abort();
    offer.value = new AbortController();
    error.value = null;
    await signIn(offer.peek().signal);
    if (!offer.peek().signal.aborted) await offerPasskeys();
  };
  const outcome = route.value.query.get('signIn');
  const failures: Record<string, string> = { blocked: t().accountBlocked, expired: t().accountExpired };
  const message = error.value ?? (outcome === null ? null : (failures[outcome] ?? words.openId.failed));
  return (
    <>
      {message !== null && <Failure>{message}</Failure>}
      {hasPasskeys.value && (
        <button type="button" onClick={() => void choose()}>
          {words.passkeys.signIn}
        </button>
      )}
      {name.value !== null && (
        <button type="button" onClick={() => location.assign('/auth/oidc/start')}>
          {words.openId.signInBy(name.value)}
        </button>
      )}
    </>
  );
}
