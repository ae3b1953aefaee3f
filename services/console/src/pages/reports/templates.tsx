import { ApiError, type NewReportTemplates, type ReportTemplate } from '@outrider/client';
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { api, user } from '../../session.ts';
import type { TimeRange } from '../../time-range.ts';
import { t } from '../../words/words.ts';
import { kinds, titleOfKind } from './kinds.ts';
import { linkOfTemplate, scheduleLink, TEMPLATE_RANGES } from './state.ts';
import { reportWords } from './words.ts';

const PATH = '/api/v1/me/report-templates';

/** The user's templates, with the account that they were loaded for. */
const templates = signal<{ userId: string; items: readonly ReportTemplate[] } | null>(null);

async function load(): Promise<void> {
  const userId = user.peek()?.id ?? '';
  if (templates.peek()?.userId === userId) return;
  templates.value = { userId, items: (await api.get(PATH)).items };
}

/** Changes the current list on the server, so that changes saved by another page are kept. */
async function revise(change: (items: readonly ReportTemplate[]) => readonly ReportTemplate[]): Promise<void> {
  const userId = user.peek()?.id ?? '';
  for (let attempt = 0; ; attempt += 1) {
    const { body, etag } = await api.getTagged(PATH);
    const items = change(body.items);
    try {
      const headers = etag === null ? {} : { 'If-Match': etag };
      const changed = await api.put(PATH, { headers, body: { items } as NewReportTemplates });
      templates.value = { userId, items: changed.items };
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412 && attempt < 3)) throw error;
    }
  }
}

/** Saved reports, each as a link. */
export function TemplateList({ range }: { range: TimeRange }) {
  useEffect(() => void load().catch((error: unknown) => toast(describeError(error), 'error')), []);
  const editing = useSignal<ReportTemplate | null>(null);
  const items = templates.value?.items ?? [];
  if (items.length === 0) return null;
  const remove = async (name: string) => {
    if (!(await confirmed(t().delete, reportWords().deleteTemplate(name), t().delete))) return;
    try {
      await revise((all) => all.filter((one) => one.name !== name));
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };
  return (
    <section class="templates" aria-label={reportWords().templates}>
      <h2>{reportWords().templates}</h2>
      <ul>
        {items.map((template) => (
          <li key={template.name}>
            <a href={linkOfTemplate(template, range, preferences.value.timeZone)}>
              <strong>
                <bdi>{template.name}</bdi>
              </strong>
              <small>{titleOfKind(template.kind)}</small>
            </a>
            {template.shape === null && (
              <a
                class="button icon"
                href={scheduleLink(template, range, preferences.value.timeZone)}
                aria-label={`${reportWords().schedule}: ${template.name}`}
                title={reportWords().schedule}
              >
                <Icon name="calendar" />
              </a>
            )}
            <button
              type="button"
              class="icon"
              aria-label={`${reportWords().editTemplate}: ${template.name}`}
              title={reportWords().editTemplate}
              onClick={() => (editing.value = template)}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="icon"
              aria-label={`${t().delete}: ${template.name}`}
              onClick={() => remove(template.name)}
            >
              <Icon name="trash" />
            </button>
          </li>
        ))}
      </ul>
      {editing.value !== null && (
        <SaveTemplate
          template={editing.value}
          replaces={editing.value.name}
          onClose={() => {
            editing.value = null;
          }}
        />
      )}
    </section>
  );
}

interface SaveProps {
  template: ReportTemplate;
  /** Name of the template to replace; null: a new template. */
  replaces: string | null;
  onClose: () => void;
}

/** Asks for a name and further details. A template of the same name is replaced. */
export function SaveTemplate({ template, replaces, onClose }: SaveProps) {
  const draft = useSignal(template);
  const error = useSignal<unknown>(null);
  const { value } = draft;
  const set = (part: Partial<ReportTemplate>) => {
    draft.value = { ...draft.peek(), ...part };
  };
  const name = value.name.trim();
  const isKnown = name !== replaces && (templates.value?.items.some((one) => one.name === name) ?? false);
  const kind = kinds.value?.find((one) => one.kind === template.kind);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = { ...draft.peek(), name: draft.peek().name.trim() };
    try {
      await revise((all) => replaced(all, wanted, replaces));
      toast(reportWords().templateSaved);
      onClose();
    } catch (reason) {
      error.value = reason;
    }
  };
  const failure = error.value;
  const wrong = failure instanceof ApiError ? (failure.problem.errors ?? []).map(({ detail }) => detail) : [];
  return (
    <Dialog title={replaces === null ? reportWords().saveTemplate : reportWords().editTemplate} onClose={onClose}>
      <form class="body" onSubmit={save}>
        <Field
          label={t().name}
          required
          maxLength={100}
          value={value.name}
          hint={isKnown ? reportWords().templateReplaced : reportWords().templateHint}
          errors={wrong.length > 0 ? wrong : failure === null ? [] : [describeError(failure)]}
          onInput={(event) => set({ name: event.currentTarget.value })}
        />
        {kind?.hasTimeRange && (
          <Choice
            label={reportWords().templateRange}
            value={value.range ?? ''}
            onChange={(range) => set({ range: (range || null) as ReportTemplate['range'] })}
          >
            <option value="" selected={value.range === null}>
              {reportWords().chosenEachTime}
            </option>
            {TEMPLATE_RANGES.map(([preset, range]) => (
              <option key={range} value={range} selected={range === value.range}>
                {t().parts.presets[preset]}
              </option>
            ))}
          </Choice>
        )}
        {kind && kind.groupings.length > 0 && (
          <Choice
            label={reportWords().groupBy}
            value={value.groupBy ?? ''}
            onChange={(groupBy) => set({ groupBy: (groupBy || null) as ReportTemplate['groupBy'] })}
          >
            <option value="" selected={value.groupBy === null}>
              {reportWords().noGroups}
            </option>
            {kind.groupings.map((one) => (
              <option key={one} value={one} selected={one === value.groupBy}>
                {reportWords().groupings[one]}
              </option>
            ))}
          </Choice>
        )}
        <Choice
          label={reportWords().format}
          value={value.format ?? ''}
          onChange={(format) => set({ format: format || null })}
        >
          <option value="" selected={value.format === null}>
            {reportWords().chosenEachTime}
          </option>
          {kind?.formats.map((format) => (
            <option key={format} value={format} selected={format === value.format}>
              {format.toUpperCase()}
            </option>
          ))}
        </Choice>
        <div class="actions">
          <SubmitButton>{t().save}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}

/** The list with the template in its previous place, or at the end. Another template of the same name is removed. */
function replaced(all: readonly ReportTemplate[], wanted: ReportTemplate, replaces: string | null): ReportTemplate[] {
  const others = all.filter(({ name }) => name !== wanted.name || name === replaces);
  const at = others.findIndex(({ name }) => name === (replaces ?? ''));
  return at < 0 ? [...others, wanted] : others.with(at, wanted);
}
