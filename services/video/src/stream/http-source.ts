import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { DriverFailure } from '../driver.ts';
import type { CheckedAddress } from './checked-host.ts';

export type HttpSource =
  | { ok: true; body: Readable }
  | { ok: false; reason: Exclude<DriverFailure, 'aborted'>; detail: string };

const ANSWER_WITHIN_MS = 30_000;

/**
 * Opens a recording on an HTTP server, at the checked address only. Redirects are not followed, and proxies of the
 * environment are not used.
 */
export function openHttp(url: URL, { address, family }: CheckedAddress, signal: AbortSignal): Promise<HttpSource> {
  const pinned: LookupFunction = (_, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
  const library = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const fail = (reason: Exclude<DriverFailure, 'aborted'>, detail: string) => resolve({ ok: false, reason, detail });
    const request = library.get(url, { lookup: pinned, agent: false, signal, timeout: ANSWER_WITHIN_MS }, (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode === 200) {
        // The reader has a timeout of its own.
        request.setTimeout(0);
        return resolve({ ok: true, body: answer });
      }
      answer.destroy();
      const said = `the source answered ${statusCode}`;
      if (statusCode === 404 || statusCode === 410 || statusCode === 204) return fail('no-recording', said);
      if (statusCode === 401 || statusCode === 403) return fail('refused', said);
      if (statusCode >= 300 && statusCode < 400) return fail('source-failed', `${said}: redirects are not followed`);
      fail(statusCode === 429 || statusCode === 503 ? 'busy' : 'source-failed', said);
    });
    request.on('timeout', () => {
      request.destroy();
      fail('no-answer', 'the source does not answer');
    });
    request.on('error', (error) => {
      fail('unreachable', `the source could not be reached (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    });
  });
}
