import { NOTIFIED_KINDS } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { IconButton } from '../../parts/buttons.tsx';
import type { Edit } from '../../parts/forms/edit.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { api } from '../../session.ts';
import { LANGUAGES } from '../../words/words.ts';
import { channelWords } from '../me/channel-words.ts';
import { isLicenceRule, type MessageLanguage, type RuleFields } from './draft.ts';

const PLACEHOLDERS =
  '{vehicle} {event} {place} {geofence} {time} {end} {duration} {speed} {limit} {distance} {latitude} {longitude} {rule}';
const LICENCE_PLACEHOLDERS = '{driver} {licenceExpiresOn} {event} {rule}';

const TAGS = Object.keys(LANGUAGES) as MessageLanguage[];

/** Text and language of a rule's messages, with an example. */
export function MessageTemplate({ edit }: { edit: Edit<RuleFields> }) {
  const words = channelWords();
  const { language, messageTemplate, messageTemplates } = edit.draft.value;
  const errors = edit.at('/language');
  const own = TAGS.filter((tag) => messageTemplates[tag] !== undefined);
  const others = TAGS.filter((tag) => messageTemplates[tag] === undefined);
  const set = (tag: MessageLanguage, text: string | undefined) => {
    const { [tag]: _, ...rest } = messageTemplates;
    edit.set({ messageTemplates: text === undefined ? rest : { ...rest, [tag]: text } });
  };
  return (
    <fieldset>
      <legend>{words.messages}</legend>
      <Choice
        label={words.language}
        value={language ?? ''}
        onChange={(tag) => edit.set({ language: tag === '' ? null : (tag as MessageLanguage) })}
      >
        <option value="" selected={language === null}>
          {words.ownLanguage}
        </option>
        {TAGS.map((tag) => (
          <option key={tag} value={tag} selected={tag === language}>
            {LANGUAGES[tag]?.name}
          </option>
        ))}
      </Choice>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      <Template
        edit={edit}
        label={words.template}
        pointer="/messageTemplate"
        tag={language}
        text={messageTemplate ?? ''}
        onText={(text) => edit.set({ messageTemplate: text === '' ? null : text })}
      />
      <small>
        {words.templateHint} <bdi>{isLicenceRule(edit.draft.value) ? LICENCE_PLACEHOLDERS : PLACEHOLDERS}</bdi>
      </small>
      {own.map((tag) => (
        <Template
          key={tag}
          edit={edit}
          label={words.templateIn(LANGUAGES[tag]?.name ?? tag)}
          pointer={`/messageTemplates/${tag}`}
          tag={tag}
          text={messageTemplates[tag] ?? ''}
          onText={(text) => set(tag, text)}
          onRemove={() => set(tag, undefined)}
        />
      ))}
      {others.length > 0 && (
        <Choice
          label={words.addLanguage}
          value=""
          onChange={(tag) =>
            set(
              tag as MessageLanguage,
              messageTemplate ?? (isLicenceRule(edit.draft.value) ? '{event}' : '{vehicle}: {event}'),
            )
          }
        >
          <option value="" selected>
            –
          </option>
          {others.map((tag) => (
            <option key={tag} value={tag}>
              {LANGUAGES[tag]?.name}
            </option>
          ))}
        </Choice>
      )}
    </fieldset>
  );
}

interface TemplateProps {
  edit: Edit<RuleFields>;
  label: string;
  pointer: string;
  /** Language of the example; null: the reader's. */
  tag: MessageLanguage | null;
  text: string;
  onText: (text: string) => void;
  onRemove?: () => void;
}

function Template({ edit, label, pointer, tag, text, onText, onRemove }: TemplateProps) {
  const words = channelWords();
  const { eventKinds, timeZone } = edit.draft.value;
  const preview = useSignal<string | null>(null);
  const errors = edit.at(pointer);
  const show = async () => {
    try {
      const eventKind = NOTIFIED_KINDS.find((kind) => eventKinds.includes(kind)) ?? 'parking';
      const body = { messageTemplate: text === '' ? null : text, eventKind, timeZone, language: tag };
      preview.value = (await api.post('/api/v1/notification-rules/preview', { body })).text;
    } catch (error) {
      preview.value = describeError(error);
    }
  };
  return (
    <div class="field">
      <label class="field">
        <span>{label}</span>
        <textarea
          rows={3}
          maxLength={1000}
          dir="auto"
          value={text}
          aria-invalid={errors.length > 0}
          onInput={({ currentTarget: { value } }) => onText(value)}
        />
      </label>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      <div class="actions">
        <button type="button" onClick={() => void show()}>
          {words.preview}
        </button>
        {onRemove && <IconButton icon="trash" label={words.removeOf(label)} onClick={onRemove} />}
      </div>
      {preview.value !== null && (
        <output class="preview" dir="auto">
          {preview.value}
        </output>
      )}
    </div>
  );
}
