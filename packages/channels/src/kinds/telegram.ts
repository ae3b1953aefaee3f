import { textOr } from '@outrider/runtime';
import { channelKind } from '../channel-kind.ts';

export interface TelegramSettings {
  /** A number, negative for groups, or `@name` of a public channel. */
  chatId: string;
}

const variables = {
  TELEGRAM_API_URL: textOr(
    'https://api.telegram.org',
    'URL of the Telegram Bot API: that of Telegram, or your own Bot API server.',
  ),
};

/** Maximum length of a message in the bot API. */
const MAX_CHARACTERS = 4096;

/** A bot created by the user (Telegram Bot API, sendMessage). The bot's token is the secret. */
export const telegramChannel = channelKind<TelegramSettings, typeof variables>({
  schemaName: 'TelegramSettings',
  example: { chatId: '123456789' },
  about: 'a Telegram chat',
  name: {
    en: 'Telegram',
    ru: 'Telegram',
    de: 'Telegram',
    es: 'Telegram',
    he: 'טלגרם',
  },
  add: {
    en: 'Telegram chat',
    ru: 'Чат Telegram',
    de: 'Telegram-Chat',
    es: 'Chat de Telegram',
    he: 'צ׳אט טלגרם',
  },
  settings: {
    chatId: {
      type: 'text',
      maxChars: 64,
      doc: 'The number of the chat, negative for a group, or `@name` of a public channel.',
      label: {
        en: 'Chat',
        ru: 'Чат',
        de: 'Chat',
        es: 'Chat',
        he: 'צ׳אט',
      },
      hint: {
        en: 'Number of the chat (negative for a group), or @name. Add the bot to it first.',
        ru: 'Номер чата (у группы отрицательный) или @имя. Сначала добавьте в него бота.',
        de: 'Nummer des Chats (bei Gruppen negativ) oder @Name. Fügen Sie zuerst den Bot hinzu.',
        es: 'Número del chat (negativo en los grupos) o @nombre. Añada antes el bot.',
        he: 'מספר הצ׳אט (שלילי בקבוצה) או ‎@name. הוסיפו אליו קודם את הבוט.',
      },
    },
  },
  target: 'chatId',
  secret: {
    doc: 'Token of a bot that is a member of the chat.',
    isRequired: true,
    label: {
      en: 'Token of the bot',
      ru: 'Токен бота',
      de: 'Token des Bots',
      es: 'Token del bot',
      he: 'אסימון הבוט',
    },
    hint: {
      en: '@BotFather gives it to you. It is stored encrypted and never shown.',
      ru: 'Его выдаёт @BotFather. Он хранится зашифрованным и не показывается.',
      de: '@BotFather gibt es Ihnen. Es wird verschlüsselt gespeichert und nie angezeigt.',
      es: 'Lo da @BotFather. Se guarda cifrado y no se muestra nunca.',
      he: '‎@BotFather נותן אותו. הוא נשמר חתום ולעולם אינו מוצג.',
    },
    fault: (token) =>
      token !== null && /^\d{3,20}:[A-Za-z0-9_-]{20,100}$/.test(token)
        ? null
        : 'It must be the token of a bot, such as 123456789:AAE….',
  },
  needsConfirmation: true,
  variables,
  fault: ({ chatId }) =>
    /^(?:-?\d{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31})$/.test(chatId)
      ? null
      : { pointer: '/chatId', detail: 'It must be the number of a chat, or the @name of a public channel.' },
  endpointOf: ({ chatId }) => `telegram:${chatId}`,
  async send({ chatId }, token, { title, text }, { http, config, isUnproven }) {
    const body = { chat_id: chatId, text: (title === text ? text : `${title}\n\n${text}`).slice(0, MAX_CHARACTERS) };
    const { result, answer } = await http.request({
      method: 'POST',
      url: `${config.TELEGRAM_API_URL.replace(/\/+$/, '')}/bot${token}/sendMessage`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, link_preview_options: { is_disabled: true } }),
      isUnproven,
      // The operator chose the address.
      isTrusted: true,
    });
    if (result.ok) return result;
    const said = answerOf(answer);
    const error = said.description === null ? result.error : `${result.error} ${said.description}`;
    return { ...result, error, ...(said.retryAfterMs === null ? {} : { retryAfterMs: said.retryAfterMs }) };
  },
});

function answerOf(text: string): { description: string | null; retryAfterMs: number | null } {
  try {
    const { description, parameters } = JSON.parse(text) as {
      description?: unknown;
      parameters?: { retry_after?: unknown };
    };
    const seconds = parameters?.retry_after;
    return {
      description: typeof description === 'string' ? description.slice(0, 200) : null,
      retryAfterMs: typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, 86_400) * 1000 : null,
    };
  } catch {
    return { description: null, retryAfterMs: null };
  }
}
