/**
 * How an attempt to send ended. `status` is the HTTP status or the SMTP reply code, null if there was no reply.
 * `retry` says whether the same message may be taken on a later attempt; `error` is fit to be shown to the user.
 */
export type SendResult =
  | { ok: true; status: number | null }
  | {
      ok: false;
      retry: boolean;
      error: string;
      status: number | null;
      /** How long the receiver asked to be left alone (HTTP `Retry-After`); absent where it did not say. */
      retryAfterMs?: number;
      /** There is no such receiver any more. */
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
