import { ApiError, type Quotas, type User } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { SubmitButton } from '../../parts/buttons.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { userWords } from './words.ts';

type Scope = 'account' | 'dealer';
const SCOPES: readonly Scope[] = ['account', 'dealer'];
interface Use {
  used: number;
  limit: number;
  isSet: boolean;
}

/** Limits of an account and their use. Those who manage the account can change its limits. */
export function QuotaList({ account: { id }, isEditable }: { account: Pick<User, 'id'>; isEditable: boolean }) {
  const words = userWords().quotas;
  const quotas = useSignal<Quotas | null>(null);
  const error = useSignal<unknown>(null);
  const isEditing = useSignal(false);
  useEffect(() => {
    api.get('/api/v1/users/{id}/quotas', { path: { id } }).then(
      (read) => {
        quotas.value = read;
      },
      (reason) => {
        error.value = reason;
      },
    );
  }, [id]);
  const present = quotas.value;
  if (present === null) return error.value === null ? null : <p class="body error">{describeError(error.value)}</p>;
  const uses = SCOPES.flatMap((scope) =>
    Object.entries((present[scope] ?? {}) as Record<string, Use>).map(([kind, use]) => ({ scope, kind, use })),
  );
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const body: Record<string, Record<string, number | null>> = {};
    for (const { scope, kind, use } of uses) {
      const text = String(data.get(`${scope}.${kind}`) ?? '').trim();
      const limit = text === '' ? null : Number(text);
      if (limit === (use.isSet ? use.limit : null)) continue;
      body[scope] = { ...body[scope], [kind]: limit };
    }
    try {
      quotas.value = await api.patch('/api/v1/users/{id}/quotas', { path: { id }, body });
      error.value = null;
      isEditing.value = false;
      toast(words.saved);
    } catch (reason) {
      error.value = reason;
    }
  };
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const hasFieldError = uses.some(({ scope, kind }) => at(`/${scope}/${kind}`).length > 0);
  return (
    <section class="body" aria-label={words.title}>
      <h3>{words.title}</h3>
      <form class="form" onSubmit={save}>
        {SCOPES.map((scope) => (
          <ScopeUses
            key={scope}
            title={present.dealer === null ? null : words.scopes[scope]}
            uses={uses.filter((one) => one.scope === scope)}
            isEditing={isEditing.value}
            at={at}
          />
        ))}
        {isEditing.value && <small>{words.hint}</small>}
        {error.value !== null && !hasFieldError && <Failure>{describeError(error.value)}</Failure>}
        {isEditable && (
          <div class="actions">
            {isEditing.value && <SubmitButton>{t().save}</SubmitButton>}
            <button type="button" onClick={() => (isEditing.value = !isEditing.value)}>
              {isEditing.value ? (
                t().cancel
              ) : (
                <>
                  <Icon name="edit" /> {words.change}
                </>
              )}
            </button>
          </div>
        )}
      </form>
    </section>
  );
}

interface ScopeProps {
  title: string | null;
  uses: readonly { scope: Scope; kind: string; use: Use }[];
  isEditing: boolean;
  at: (pointer: string) => string[];
}

function ScopeUses({ title, uses, isEditing, at }: ScopeProps) {
  if (uses.length === 0) return null;
  return (
    <>
      {title !== null && <h4>{title}</h4>}
      <ul class="meters">
        {uses.map(({ scope, kind, use }) => (
          <li key={kind}>
            {isEditing ? (
              <Field
                label={quotaName(kind)}
                name={`${scope}.${kind}`}
                type="number"
                min={0}
                step={1}
                defaultValue={use.isSet ? String(use.limit) : ''}
                placeholder={String(use.limit)}
                errors={at(`/${scope}/${kind}`)}
              />
            ) : (
              <Meter label={quotaName(kind)} used={use.used} limit={use.limit} isBytes={kind === 'storageBytes'} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function quotaName(kind: string): string {
  return (userWords().quotas.kinds as Record<string, string>)[kind] ?? kind;
}

/** Use of a limit, as a bar and in figures. */
export function Meter({
  label,
  used,
  limit,
  isBytes = false,
}: {
  label: string;
  used: number;
  limit: number;
  isBytes?: boolean;
}) {
  const text = (value: number) => (isBytes ? formats().bytes(value) : formats().number(value));
  return (
    <div class="meter-row">
      <span>{label}</span>
      <span>{userWords().quotas.of(text(used), text(limit))}</span>
      <meter min={0} max={Math.max(limit, 1)} high={limit * 0.9} value={Math.min(used, limit)} aria-label={label} />
    </div>
  );
}
