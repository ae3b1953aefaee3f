import { en as sentences } from '../sentences/en.ts';
import type { MessageWords } from './words.ts';

export const en: MessageWords = {
  subject: (sentence) => `Vehicle event: ${sentence}`,
  lateData: 'late data',
  escalated: (message) => `Nobody has acknowledged this yet: ${message}`,
  lastedNow: (duration) => `, for ${duration} now`,
  ...sentences,
  labels: {
    time: 'Time',
    began: 'Began',
    ended: 'Ended',
    position: 'Position',
    place: 'Place',
    from: 'From',
    to: 'To',
    rule: 'Rule',
    tank: 'Tank',
    licence: 'Licence valid until',
    dueBy: 'Due by',
    farthest: 'Extreme value',
  },
  causes: { distance: 'distance', 'engine-hours': 'engine hours', days: 'days', counter: 'counter' },
  received: (time, delay) => `${time}, ${delay} after it happened`,
  test: {
    subject: 'Test of notifications by e-mail',
    text: (rule) =>
      `Notifications from the rule ${rule} are sent to this address. This message is a test: nothing happened.`,
  },
  channelTest: { title: 'Test', text: 'This message is a test: nothing happened.' },
  code: {
    title: (code) => `Code: ${code}`,
    text: 'A fleet service wants to send notifications about vehicles here. If you want them, give the code to the person who asked for it. If you do not know what this is about, do nothing.',
  },
  footer: {
    why: (url) => `You receive this e-mail because this address was entered in the fleet service at ${url}.`,
    unsubscribe: 'Unsubscribe',
  },
  confirmation: {
    subject: 'Confirm your e-mail address',
    why: (url) =>
      `Somebody who uses the fleet service at ${url} wants to send notifications or reports about vehicles to this address. If you want them, confirm it here:`,
    expires: (days) => `The link works for ${days} days.`,
    ignore: 'If you do not know what this is about, do nothing: nothing will be sent to you.',
  },
  accountMails: {
    reset: {
      subject: 'Choose a new password',
      why: (url, login) =>
        `Somebody requested a new password for the account ${login} in the fleet service at ${url}. Choose it here:`,
    },
    invitation: {
      subject: 'Your account in the fleet service',
      why: (url, login) =>
        `You were given the account ${login} in the fleet service at ${url}. Choose a password here:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'The link works once, for an hour.' : `The link works once, for ${hours} hours.`,
    expiresDays: (days) => `The link works once, for ${days} days.`,
    ignore: 'If you do not know what this is about, do nothing: nothing will change.',
  },
  accountNotices: {
    subject: (login) => `The sign-in to your account ${login} changed`,
    about: (login, url, time) => `Account ${login} in the fleet service at ${url}, ${time}:`,
    what: {
      'password-changed': 'The password was changed.',
      'email-changed': 'The e-mail address was changed. E-mails about the account are no longer sent here.',
      'second-factor-enabled': 'A second factor was enabled: codes from an app.',
      'second-factor-removed': 'The second factor was removed.',
      'recovery-code-used': 'A recovery code was used to sign in.',
      'passkey-added': (name) => `The passkey ${name} was added.`,
      'passkey-removed': (name) => `The passkey ${name} was removed.`,
      'sign-in-linked': (name) => `The sign-in with ${name} was linked.`,
      'sign-in-unlinked': (name) => `The sign-in with ${name} was unlinked.`,
    },
    notYou: (url) =>
      `If this was not you, change your password at ${url} and ask the person who manages your account for help.`,
  },
  addressPages: {
    confirm: {
      title: 'Confirm your e-mail address',
      about: (address) => `Should ${address} receive notifications and reports about vehicles from this fleet service?`,
      button: 'Confirm',
    },
    confirmed: {
      title: 'Confirmed',
      about: (address) => `${address} will receive e-mails from now on. Each of them has an unsubscribe link.`,
    },
    unsubscribe: {
      title: 'Unsubscribe',
      about: (address) => `Stop sending e-mails from this fleet to ${address}?`,
      button: 'Unsubscribe',
    },
    unsubscribed: {
      title: 'Unsubscribed',
      about: (address) => `${address} will receive no more e-mails from this fleet. Was that a mistake?`,
      button: 'Get e-mails again',
    },
    expired: {
      title: 'This link no longer works',
      about: 'It was already used, has expired or is incomplete.',
    },
    changed: { title: 'Try again', about: 'The address was changed at the same time.' },
  },
  reportMail: {
    title: (report, period) => `Report ${report}${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `${first} to ${last}`,
    failed: (title) => `${title} could not be created`,
    reasons: {
      gone: 'What it covers no longer exists, or you can no longer see it.',
      'too-large': 'It is too large. Request fewer vehicles or a shorter time range.',
      failed: 'The service could not create it. Create it again in the console, or wait for the next one.',
    },
    tooLarge: (megabytes, url) =>
      `Its size is ${megabytes} MB, which is too large for an e-mail. Download it at ${url}`,
    labels: {
      schedule: 'Schedule',
      rows: 'Rows',
      daysOf: 'Days of',
      made: 'Made',
      file: 'File',
      reason: 'Reason',
    },
  },
};
