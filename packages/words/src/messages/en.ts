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
    farthest: 'Farthest value',
  },
  causes: { distance: 'distance', 'engine-hours': 'engine hours', days: 'days', counter: 'counter' },
  received: (time, delay) => `${time}, ${delay} after it happened`,
  test: {
    subject: 'Test of notifications by e-mail',
    text: (rule) => `Notifications of rule ${rule} are sent to this address. This message is a test: nothing happened.`,
  },
  channelTest: { title: 'Test', text: 'This message is a test: nothing happened.' },
  code: {
    title: (code) => `Code: ${code}`,
    text: 'A fleet service wants to send notifications about vehicles here. Hand the code to who asked for it if you want them. If you do not know what this is about, do nothing.',
  },
  footer: {
    why: (url) => `You get this e-mail because this address is named in the fleet service at ${url}.`,
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
        `Somebody asked for a new password of the account ${login} in the fleet service at ${url}. Choose it here:`,
    },
    invitation: {
      subject: 'Your account in the fleet service',
      why: (url, login) =>
        `You were given the account ${login} in the fleet service at ${url}. Choose a password here:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'The link works once, for an hour.' : `The link works once, for ${hours} hours.`,
    expiresDays: (days) => `The link works once, for ${days} days.`,
    ignore: 'If you do not know what this is about, do nothing: nothing changes.',
  },
  accountNotices: {
    subject: (login) => `The sign-in to your account ${login} changed`,
    about: (login, url, time) => `Account ${login} in the fleet service at ${url}, ${time}:`,
    what: {
      'password-changed': 'The password was changed.',
      'email-changed': 'Another e-mail address was set. E-mails about the account do not come here any more.',
      'second-factor-enabled': 'A second factor was enabled: codes of an app.',
      'second-factor-removed': 'The second factor was removed.',
      'recovery-code-used': 'A recovery code was used to sign in.',
      'passkey-added': (name) => `The passkey ${name} was added.`,
      'passkey-removed': (name) => `The passkey ${name} was removed.`,
      'sign-in-linked': (name) => `The sign-in by ${name} was linked.`,
      'sign-in-unlinked': (name) => `The sign-in by ${name} was unlinked.`,
    },
    notYou: (url) => `If it was not you, set another password at ${url} and ask who keeps your account for help.`,
  },
  addressPages: {
    confirm: {
      title: 'Confirm your e-mail address',
      about: (address) => `Shall ${address} get notifications and reports about vehicles from this fleet service?`,
      button: 'Confirm',
    },
    confirmed: {
      title: 'Confirmed',
      about: (address) => `${address} gets e-mails from now on. Each of them has a link that ends them.`,
    },
    unsubscribe: {
      title: 'Unsubscribe',
      about: (address) => `Shall ${address} get no more e-mails of this fleet?`,
      button: 'Unsubscribe',
    },
    unsubscribed: {
      title: 'Unsubscribed',
      about: (address) => `${address} gets no more e-mails of this fleet. Was that a mistake?`,
      button: 'Get e-mails again',
    },
    expired: {
      title: 'This link does not work any more',
      about: 'It was used, has expired, or is not complete.',
    },
    changed: { title: 'Try again', about: 'The address was changed at the same moment.' },
  },
  reportMail: {
    title: (report, period) => `Report ${report}${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `${first} to ${last}`,
    failed: (title) => `${title} could not be made`,
    reasons: {
      gone: 'What it names does not exist any more, or you may not see it.',
      'too-large': 'It is too large: request fewer vehicles, or a shorter time range.',
      failed: 'The service failed to make it. Make it again in the console, or wait for the next one.',
    },
    tooLarge: (megabytes, url) => `It has ${megabytes} MB, which is too large for an e-mail. It is at ${url}`,
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
