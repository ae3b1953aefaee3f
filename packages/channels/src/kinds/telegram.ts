import type { ChannelKind } from '../message-channel.ts';

export interface TelegramSettings {
  /** A number, negative for groups, or `@name` of a public channel. */
  chatId: string;
}

/** What the bot API takes in one message. */
const MAX_CHARACTERS = 4096;

/** A bot that its user made (Telegram Bot API, sendMessage). The token of the bot is the secret. */
export const telegramChannel: ChannelKind<TelegramSettings> = {
  needsConfirmation: true,
  settingNames: ['chatId'],
  fault: ({ chatId }) =>
    /^(?:-?\d{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31})$/.test(chatId)
      ? null
      : { pointer: '/chatId', detail: 'It must be the number of a chat, or the @name of a public channel.' },
  secretFault: (token) =>
    token !== null && /^\d{3,20}:[A-Za-z0-9_-]{20,100}$/.test(token)
      ? null
      : 'It must be the token of a bot, such as 123456789:AAE….',
  endpointOf: ({ chatId }) => `telegram:${chatId}`,
  async send({ chatId }, token, { title, text }, { http, telegramUrl, isUnproven }) {
    const body = { chat_id: chatId, text: (title === text ? text : `${title}\n\n${text}`).slice(0, MAX_CHARACTERS) };
    const { result, answer } = await http.request({
      method: 'POST',
      url: `${telegramUrl}/bot${token}/sendMessage`,
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
};

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
