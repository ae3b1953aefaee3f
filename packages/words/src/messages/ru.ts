import { after, measures, type Said } from '@outrider/domain/said';
import type { MessageWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `Водительское удостоверение (${driver ?? 'водитель'}) ${isExpired ? 'просрочено' : 'скоро истекает'}${measures(licenceExpiresOn && `последний день ${licenceExpiresOn}`)}`;

export const ru: MessageWords = {
  subject: (sentence) => `Событие: ${sentence}`,
  lateData: 'запоздавшие данные',
  lastedNow: (duration) => `, уже ${duration}`,
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `${vehicle}: ${kind}: начало`,
    end: (said) => `${said.vehicle}: ${said.kind}: конец${after(said, 'через')}`,
  },
  threshold: {
    above: (max) => `выше ${max}`,
    below: (min) => `ниже ${min}`,
    inside: (min, max) => `от ${min} до ${max}`,
    outside: (min, max) => `вне пределов от ${min} до ${max}`,
    other: 'за пределами порога',
  },
  labels: {
    time: 'Время',
    began: 'Начало',
    ended: 'Конец',
    position: 'Координаты',
    place: 'Место',
    from: 'Откуда',
    to: 'Куда',
    rule: 'Правило',
    tank: 'Бак',
    licence: 'Удостоверение действительно до',
    dueBy: 'Подошло по',
    farthest: 'Крайнее значение',
  },
  causes: { distance: 'пробегу', 'engine-hours': 'моточасам', days: 'дням', counter: 'счётчику' },
  received: (time, delay) => `${time}, спустя ${delay}`,
  durationUnits: ['д', 'ч', 'мин', 'с'],
  test: {
    subject: 'Проверка уведомлений по почте',
    text: (rule) =>
      `На этот адрес приходят уведомления правила ${rule}. Это проверочное сообщение: ничего не случилось.`,
  },
  channelTest: { title: 'Проверка', text: 'Это проверочное сообщение: ничего не случилось.' },
  code: {
    title: (code) => `Код: ${code}`,
    text: 'Сервис мониторинга транспорта хочет присылать сюда уведомления. Если вы согласны, передайте код тому, кто его просил. Если не знаете, о чём речь, ничего не делайте.',
  },
  footer: {
    why: (url) => `Вы получили это письмо, потому что этот адрес указан в сервисе мониторинга транспорта ${url}.`,
    unsubscribe: 'Отписаться',
  },
  confirmation: {
    subject: 'Подтвердите адрес электронной почты',
    why: (url) =>
      `Пользователь сервиса мониторинга транспорта ${url} хочет отправлять на этот адрес уведомления или отчёты о транспорте. Если вы согласны их получать, подтвердите адрес по ссылке:`,
    expires: (days) => `Срок действия ссылки (дней): ${days}.`,
    ignore: 'Если не знаете, о чём речь, ничего не делайте: вам ничего не будут присылать.',
  },
  accountMails: {
    reset: {
      subject: 'Выберите новый пароль',
      why: (url, login) => `Запрошен новый пароль учётной записи ${login} в сервисе ${url}. Задайте его здесь:`,
    },
    invitation: {
      subject: 'Ваша учётная запись в сервисе автопарка',
      why: (url, login) => `Вам выдана учётная запись ${login} в сервисе ${url}. Задайте пароль здесь:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'Ссылка действует один раз, в течение часа.' : `Ссылка действует один раз, в течение ${hours} ч.`,
    expiresDays: (days) => `Ссылка действует один раз, в течение ${days} дней.`,
    ignore: 'Если вы не знаете, о чём речь, ничего не делайте: ничего не изменится.',
  },
  accountNotices: {
    subject: (login) => `Изменён вход в вашу учётную запись ${login}`,
    about: (login, url, time) => `Учётная запись ${login} в сервисе ${url}, ${time}:`,
    what: {
      'password-changed': 'Пароль изменён.',
      'email-changed': 'Указан другой адрес электронной почты. Письма об учётной записи сюда больше не приходят.',
      'second-factor-enabled': 'Включён второй фактор: коды приложения.',
      'second-factor-removed': 'Второй фактор удалён.',
      'recovery-code-used': 'Для входа использован код восстановления.',
      'passkey-added': (name) => `Добавлен ключ доступа ${name}.`,
      'passkey-removed': (name) => `Удалён ключ доступа ${name}.`,
      'sign-in-linked': (name) => `Вход через ${name} привязан.`,
      'sign-in-unlinked': (name) => `Вход через ${name} отвязан.`,
    },
    notYou: (url) =>
      `Если это были не вы, задайте другой пароль на ${url} и обратитесь к тому, кто ведёт вашу учётную запись.`,
  },
  addressPages: {
    confirm: {
      title: 'Подтвердите адрес электронной почты',
      about: (address) => `Отправлять на ${address} уведомления и отчёты о транспорте из этого сервиса?`,
      button: 'Подтвердить',
    },
    confirmed: {
      title: 'Адрес подтверждён',
      about: (address) => `Теперь на ${address} будут приходить письма. В каждом есть ссылка для отписки.`,
    },
    unsubscribe: {
      title: 'Отписаться',
      about: (address) => `Больше не отправлять письма этого автопарка на ${address}?`,
      button: 'Отписаться',
    },
    unsubscribed: {
      title: 'Вы отписались',
      about: (address) => `Письма этого автопарка больше не приходят на ${address}. Отписались по ошибке?`,
      button: 'Снова получать письма',
    },
    expired: {
      title: 'Ссылка больше не действует',
      about: 'Она уже использована, истекла или скопирована не полностью.',
    },
    changed: { title: 'Попробуйте ещё раз', about: 'Адрес в этот же момент был изменён.' },
  },
  reportMail: {
    title: (report, period) => `Отчёт «${report}»${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `${first} – ${last}`,
    failed: (title) => `${title}: сформировать не удалось`,
    reasons: {
      gone: 'То, о чём отчёт, больше не существует или вам недоступно.',
      'too-large': 'Отчёт слишком велик: выберите меньше транспорта или меньший период.',
      failed: 'Сервису не удалось сформировать отчёт. Сформируйте его в консоли ещё раз или дождитесь следующего.',
    },
    tooLarge: (megabytes, url) => `${megabytes} МБ, это слишком много для письма. Файл доступен по адресу ${url}`,
    labels: {
      schedule: 'Расписание',
      rows: 'Строк',
      daysOf: 'Часовой пояс дней',
      made: 'Сформирован',
      file: 'Файл',
      reason: 'Причина',
    },
  },
};
