import type { SentenceWords } from '../sentences/words.ts';

/** Texts of messages in one language. */
export interface MessageWords extends SentenceWords {
  /** Subject of an e-mail about an event. */
  subject: (sentence: string) => string;
  lateData: string;
  /** Message of an escalated incident, made from the message of its event. */
  escalated: (message: string) => string;
  lastedNow: (duration: string) => string;
  labels: Readonly<
    Record<
      | 'time'
      | 'began'
      | 'ended'
      | 'position'
      | 'place'
      | 'from'
      | 'to'
      | 'rule'
      | 'tank'
      | 'dueBy'
      | 'licence'
      | 'farthest',
      string
    >
  >;
  causes: Readonly<Record<'distance' | 'engine-hours' | 'days' | 'counter', string>>;
  received: (time: string, delay: string) => string;
  test: { subject: string; text: (rule: string) => string };
  channelTest: { title: string; text: string };
  code: { title: (code: string) => string; text: string };
  /** Footer of an e-mail. */
  footer: { why: (url: string) => string; unsubscribe: string };
  /** The e-mail that asks the holder of an address whether they want e-mails. */
  confirmation: { subject: string; why: (url: string) => string; expires: (days: number) => string; ignore: string };
  /** E-mails with a link that sets the password of an account. */
  accountMails: Readonly<
    Record<'reset' | 'invitation', { subject: string; why: (url: string, login: string) => string }>
  > & { expiresHours: (hours: number) => string; expiresDays: (days: number) => string; ignore: string };
  /** E-mails about changes of how an account signs in. `what` holds sentences, with the name of the thing, if any. */
  accountNotices: {
    subject: (login: string) => string;
    about: (login: string, url: string, time: string) => string;
    what: Readonly<
      Record<
        'password-changed' | 'email-changed' | 'second-factor-enabled' | 'second-factor-removed' | 'recovery-code-used',
        string
      >
    > &
      Readonly<
        Record<'passkey-added' | 'passkey-removed' | 'sign-in-linked' | 'sign-in-unlinked', (name: string) => string>
      >;
    notYou: (url: string) => string;
  };
  /** Pages that links in e-mails open. */
  addressPages: Readonly<Record<'confirm' | 'unsubscribe' | 'unsubscribed', AddressPage & { button: string }>> &
    Readonly<Record<'confirmed', AddressPage>> &
    Readonly<Record<'expired' | 'changed', { title: string; about: string }>>;
  /** The e-mail with a scheduled report. */
  reportMail: {
    /** From the name of the report, and its period in words. */
    title: (report: string, period: string | null) => string;
    period: (first: string, last: string) => string;
    failed: (title: string) => string;
    reasons: Readonly<Record<ReportFailure, string>>;
    tooLarge: (megabytes: number, url: string) => string;
    labels: Readonly<Record<'schedule' | 'rows' | 'daysOf' | 'made' | 'file' | 'reason', string>>;
  };
}

interface AddressPage {
  title: string;
  about: (address: string) => string;
}

/** Why a report could not be made, as far as its reader can do something about it. */
export const REPORT_FAILURES = ['gone', 'too-large', 'failed'] as const;
export type ReportFailure = (typeof REPORT_FAILURES)[number];
