/**
 * Result of an attempt to send. `status` is the HTTP status or the SMTP reply code, null if there was no reply. `retry`
 * is true if the same message may be accepted on a later attempt; `error` is suitable for showing to the user.
 */
export type SendResult =
  | { ok: true; status: number | null }
  | {
      ok: false;
      retry: boolean;
      error: string;
      status: number | null;
      /** Wait that the receiver requested (HTTP `Retry-After`); absent if it requested none. */
      retryAfterMs?: number;
      /** The receiver no longer exists. */
      isGone?: boolean;
    };

/** The recipient, or the network to it, fails now and may work later. */
export function failedForNow(error: string, status: number | null = null): SendResult {
  return { ok: false, retry: true, error, status };
}

/** The same message would fail again. */
export function failedForGood(error: string, status: number | null = null): SendResult {
  return { ok: false, retry: false, error, status };
}
