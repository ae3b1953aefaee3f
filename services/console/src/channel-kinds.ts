// Generated from the descriptions of channels by `npm run openapi`. Do not edit.
import type { ChannelKindForm } from './pages/me/channel-kind.ts';

export const CHANNEL_KINDS = {
  "telegram": {
    "name": {
      "en": "Telegram",
      "ru": "Telegram",
      "de": "Telegram",
      "es": "Telegram",
      "he": "טלגרם"
    },
    "add": {
      "en": "Telegram chat",
      "ru": "Чат Telegram",
      "de": "Telegram-Chat",
      "es": "Chat de Telegram",
      "he": "צ׳אט טלגרם"
    },
    "target": "chatId",
    "fields": {
      "chatId": {
        "type": "text",
        "maxChars": 64,
        "label": {
          "en": "Chat",
          "ru": "Чат",
          "de": "Chat",
          "es": "Chat",
          "he": "צ׳אט"
        },
        "hint": {
          "en": "Number of the chat (negative for a group), or @name. Add the bot to it first.",
          "ru": "Номер чата (у группы отрицательный) или @имя. Сначала добавьте в него бота.",
          "de": "Nummer des Chats (bei Gruppen negativ) oder @Name. Fügen Sie zuerst den Bot hinzu.",
          "es": "Número del chat (negativo en los grupos) o @nombre. Añada antes el bot.",
          "he": "מספר הצ׳אט (שלילי בקבוצה) או ‎@name. הוסיפו אליו קודם את הבוט."
        }
      }
    },
    "secret": {
      "isRequired": true,
      "label": {
        "en": "Token of the bot",
        "ru": "Токен бота",
        "de": "Token des Bots",
        "es": "Token del bot",
        "he": "אסימון הבוט"
      },
      "hint": {
        "en": "@BotFather gives it to you. It is stored encrypted and never shown.",
        "ru": "Его выдаёт @BotFather. Он хранится зашифрованным и не показывается.",
        "de": "@BotFather gibt es Ihnen. Es wird verschlüsselt gespeichert und nie angezeigt.",
        "es": "Lo da @BotFather. Se guarda cifrado y no se muestra nunca.",
        "he": "‎@BotFather נותן אותו. הוא נשמר חתום ולעולם אינו מוצג."
      }
    }
  },
  "http": {
    "name": {
      "en": "HTTP call",
      "ru": "Вызов HTTP",
      "de": "HTTP-Aufruf",
      "es": "Llamada HTTP",
      "he": "קריאת HTTP"
    },
    "add": {
      "en": "SMS or other service",
      "ru": "SMS или другой сервис",
      "de": "SMS oder anderer Dienst",
      "es": "SMS u otro servicio",
      "he": "מסרון או שירות אחר"
    },
    "note": {
      "en": "Placeholders: {title}, {message}, {to}, {secret}, {id}.",
      "ru": "Подстановки: {title}, {message}, {to}, {secret}, {id}.",
      "de": "Platzhalter: {title}, {message}, {to}, {secret}, {id}.",
      "es": "Marcadores: {title}, {message}, {to}, {secret}, {id}.",
      "he": "מצייני מקום: ‎{title}, {message}, {to}, {secret}, {id}."
    },
    "target": "to",
    "fields": {
      "method": {
        "type": "choice",
        "values": [
          "GET",
          "POST",
          "PUT"
        ],
        "default": "POST",
        "label": {
          "en": "Method",
          "ru": "Метод",
          "de": "Methode",
          "es": "Método",
          "he": "שיטה"
        }
      },
      "url": {
        "type": "text",
        "maxChars": 2048,
        "label": {
          "en": "URL",
          "ru": "URL",
          "de": "URL",
          "es": "URL",
          "he": "URL"
        },
        "placeholder": "https://"
      },
      "headers": {
        "type": "headers",
        "maxHeaders": 20,
        "label": {
          "en": "Headers, one in a line (Name: value)",
          "ru": "Заголовки, по одному в строке (Имя: значение)",
          "de": "Header, einer je Zeile (Name: Wert)",
          "es": "Cabeceras, una por línea (Nombre: valor)",
          "he": "כותרות, אחת בשורה (שם: ערך)"
        }
      },
      "contentType": {
        "type": "choice",
        "values": [
          "application/json",
          "application/x-www-form-urlencoded",
          "text/plain",
          "application/xml"
        ],
        "default": "application/json",
        "label": {
          "en": "Format of the body",
          "ru": "Формат тела",
          "de": "Format des Inhalts",
          "es": "Formato del cuerpo",
          "he": "תבנית הגוף"
        },
        "onlyWith": {
          "setting": "method",
          "values": [
            "POST",
            "PUT"
          ]
        }
      },
      "body": {
        "type": "text",
        "maxChars": 10000,
        "default": "",
        "suggested": "{\"to\":\"{to}\",\"text\":\"{title}\"}",
        "isLong": true,
        "label": {
          "en": "Body",
          "ru": "Тело",
          "de": "Inhalt",
          "es": "Cuerpo",
          "he": "גוף"
        },
        "onlyWith": {
          "setting": "method",
          "values": [
            "POST",
            "PUT"
          ]
        }
      },
      "to": {
        "type": "text",
        "maxChars": 200,
        "default": "",
        "label": {
          "en": "To",
          "ru": "Кому",
          "de": "An",
          "es": "Para",
          "he": "אל"
        },
        "hint": {
          "en": "Such as the number of a phone.",
          "ru": "Например, номер телефона.",
          "de": "Etwa eine Telefonnummer.",
          "es": "Como un número de teléfono.",
          "he": "כגון מספר טלפון."
        }
      }
    },
    "secret": {
      "isRequired": false,
      "label": {
        "en": "Secret",
        "ru": "Секрет",
        "de": "Geheimnis",
        "es": "Secreto",
        "he": "סוד"
      },
      "hint": {
        "en": "Such as an API key: {secret} in the URL, a header or the body. It is stored encrypted and never shown.",
        "ru": "Например, ключ API: {secret} в URL, заголовке или теле. Он хранится зашифрованным и не показывается.",
        "de": "Etwa ein API-Schlüssel: {secret} in URL, Header oder Inhalt. Es wird verschlüsselt gespeichert und nie angezeigt.",
        "es": "Como una clave de API: {secret} en la URL, una cabecera o el cuerpo. Se guarda cifrado y no se muestra nunca.",
        "he": "כגון מפתח API: ‎{secret} בכתובת, בכותרת או בגוף. הוא נשמר חתום ולעולם אינו מוצג."
      }
    }
  },
  "web-push": {
    "name": {
      "en": "Browser",
      "ru": "Браузер",
      "de": "Browser",
      "es": "Navegador",
      "he": "דפדפן"
    },
    "add": null,
    "target": "service",
    "fields": {},
    "secret": {
      "isRequired": true
    }
  }
} as const satisfies Record<string, ChannelKindForm>;
