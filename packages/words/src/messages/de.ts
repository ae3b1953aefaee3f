import { de as sentences } from '../sentences/de.ts';
import type { MessageWords } from './words.ts';

export const de: MessageWords = {
  subject: (sentence) => `Fahrzeugereignis: ${sentence}`,
  lateData: 'verspätete Daten',
  escalated: (message) => `Noch von niemandem bestätigt: ${message}`,
  lastedNow: (duration) => `, seit ${duration}`,
  ...sentences,
  labels: {
    time: 'Zeit',
    began: 'Anfang',
    ended: 'Ende',
    position: 'Position',
    place: 'Ort',
    from: 'Von',
    to: 'Nach',
    rule: 'Regel',
    tank: 'Tank',
    licence: 'Führerschein gültig bis',
    dueBy: 'Fällig nach',
    farthest: 'Äußerster Wert',
  },
  causes: { distance: 'Strecke', 'engine-hours': 'Motorstunden', days: 'Tagen', counter: 'Zählerstand' },
  received: (time, delay) => `${time}, ${delay} danach`,
  test: {
    subject: 'Test der Benachrichtigungen per E-Mail',
    text: (rule) =>
      `Benachrichtigungen der Regel ${rule} werden an diese Adresse gesendet. Diese Nachricht ist ein Test: Es ist nichts geschehen.`,
  },
  channelTest: { title: 'Test', text: 'Diese Nachricht ist ein Test: Es ist nichts geschehen.' },
  code: {
    title: (code) => `Code: ${code}`,
    text: 'Ein Flottendienst möchte hierher Benachrichtigungen über Fahrzeuge senden. Wenn Sie das wollen, geben Sie den Code an die Person weiter, die danach fragt. Wenn Sie nicht wissen, worum es geht, tun Sie nichts.',
  },
  footer: {
    why: (url) => `Sie erhalten diese E-Mail, weil diese Adresse im Flottendienst ${url} eingetragen ist.`,
    unsubscribe: 'Abmelden',
  },
  confirmation: {
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    why: (url) =>
      `Jemand möchte mit dem Flottendienst ${url} Benachrichtigungen oder Berichte über Fahrzeuge an diese Adresse senden. Wenn Sie das wollen, bestätigen Sie sie hier:`,
    expires: (days) => `Der Link gilt ${days} Tage.`,
    ignore: 'Wenn Sie nicht wissen, worum es geht, tun Sie nichts: Sie bekommen dann nichts gesendet.',
  },
  accountMails: {
    reset: {
      subject: 'Neues Passwort wählen',
      why: (url, login) =>
        `Für das Konto ${login} im Flottendienst ${url} wurde ein neues Passwort verlangt. Wählen Sie es hier:`,
    },
    invitation: {
      subject: 'Ihr Konto im Flottendienst',
      why: (url, login) =>
        `Sie haben das Konto ${login} im Flottendienst ${url} bekommen. Wählen Sie hier ein Passwort:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'Der Link gilt einmal, eine Stunde lang.' : `Der Link gilt einmal, ${hours} Stunden lang.`,
    expiresDays: (days) => `Der Link gilt einmal, ${days} Tage lang.`,
    ignore: 'Wenn Sie nicht wissen, worum es geht, tun Sie nichts: Es ändert sich nichts.',
  },
  accountNotices: {
    subject: (login) => `Die Anmeldung zu Ihrem Konto ${login} wurde geändert`,
    about: (login, url, time) => `Konto ${login} im Flottendienst ${url}, ${time}:`,
    what: {
      'password-changed': 'Das Passwort wurde geändert.',
      'email-changed': 'Eine andere E-Mail-Adresse wurde eingetragen. Hierher kommen keine E-Mails zum Konto mehr.',
      'second-factor-enabled': 'Ein zweiter Faktor wurde eingeschaltet: Codes einer App.',
      'second-factor-removed': 'Der zweite Faktor wurde entfernt.',
      'recovery-code-used': 'Mit einem Wiederherstellungscode wurde angemeldet.',
      'passkey-added': (name) => `Der Passkey ${name} wurde hinzugefügt.`,
      'passkey-removed': (name) => `Der Passkey ${name} wurde entfernt.`,
      'sign-in-linked': (name) => `Die Anmeldung über ${name} wurde verknüpft.`,
      'sign-in-unlinked': (name) => `Die Anmeldung über ${name} wurde getrennt.`,
    },
    notYou: (url) =>
      `Wenn Sie das nicht waren, setzen Sie unter ${url} ein anderes Passwort und wenden Sie sich an die Stelle, die Ihr Konto verwaltet.`,
  },
  addressPages: {
    confirm: {
      title: 'E-Mail-Adresse bestätigen',
      about: (address) =>
        `Soll ${address} Benachrichtigungen und Berichte über Fahrzeuge von diesem Flottendienst erhalten?`,
      button: 'Bestätigen',
    },
    confirmed: {
      title: 'Bestätigt',
      about: (address) => `${address} erhält ab jetzt E-Mails. Jede enthält einen Link zum Abmelden.`,
    },
    unsubscribe: {
      title: 'Abmelden',
      about: (address) => `Soll ${address} keine E-Mails dieser Flotte mehr erhalten?`,
      button: 'Abmelden',
    },
    unsubscribed: {
      title: 'Abgemeldet',
      about: (address) => `${address} erhält keine E-Mails dieser Flotte mehr. War das ein Versehen?`,
      button: 'Wieder E-Mails erhalten',
    },
    expired: {
      title: 'Dieser Link gilt nicht mehr',
      about: 'Er wurde schon benutzt, ist abgelaufen oder unvollständig.',
    },
    changed: { title: 'Versuchen Sie es noch einmal', about: 'Die Adresse wurde im selben Moment geändert.' },
  },
  reportMail: {
    title: (report, period) => `Bericht ${report}${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `${first} bis ${last}`,
    failed: (title) => `${title}: konnte nicht erstellt werden`,
    reasons: {
      gone: 'Was er nennt, gibt es nicht mehr, oder Sie dürfen es nicht sehen.',
      'too-large': 'Er ist zu groß: Wählen Sie weniger Fahrzeuge oder weniger Zeit.',
      failed:
        'Der Dienst konnte ihn nicht erstellen. Erstellen Sie ihn in der Konsole noch einmal, oder warten Sie auf den nächsten.',
    },
    tooLarge: (megabytes, url) => `Sie hat ${megabytes} MB, zu viel für eine E-Mail. Sie liegt unter ${url}`,
    labels: {
      schedule: 'Zeitplan',
      rows: 'Zeilen',
      daysOf: 'Tage nach',
      made: 'Erstellt',
      file: 'Datei',
      reason: 'Grund',
    },
  },
};
