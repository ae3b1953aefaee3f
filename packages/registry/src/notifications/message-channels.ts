import { createHash, timingSafeEqual } from 'node:crypto';
import type { NotificationRuleId, UserId } from '@outrider/domain';
import { type Kysely, sql } from 'kysely';
import type { AuditNote } from '../audit/audit-notes.ts';
import { NotFoundError } from '../store/errors.ts';
import type { MessageChannelRow, Tables } from '../store/schema.ts';
import { inChunks, type Reader, type Store } from '../store/store.ts';
import { RULES, replaceRule } from './notification-rules.ts';

/** `pending`: the recipient has not confirmed yet that messages are wanted. */
export type MessageChannelState = 'pending' | 'confirmed';

/** A user's target for messages besides e-mail and webhooks, with settings of its own. */
export interface MessageChannel {
  id: string;
  userId: UserId;
  /** A kind of `packages/channels`, which defines the settings. */
  kind: string;
  name: string;
  state: MessageChannelState;
  settings: object;
  /** Whether it has a secret, which is read only for sending. */
  hasSecret: boolean;
  /** The receiving server, by which deliveries are limited. */
  endpoint: string;
  createdAtMs: number;
}

export type MessageChannelFields = Pick<MessageChannel, 'userId' | 'kind' | 'name' | 'state' | 'settings' | 'endpoint'>;

/** Limits per channel. */
export interface MessageLimits {
  perHour: number;
  perDay: number;
}

/** Kind of the channels that are browsers. */
export const WEB_PUSH = 'web-push';
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_CODE_TRIES = 5;

/** Message channels of users. */
export class MessageChannels {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @param fingerprint of a browser, which belongs to one account at a time: existing channels with it, of any account,
   *   are deleted. Null for other channels
   */
  create(
    fields: MessageChannelFields,
    secret: string | null,
    fingerprint: string | null = null,
  ): Promise<MessageChannel> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs, newId } = writer;
      if (fingerprint !== null) {
        const rows = tx.deleteFrom('messageChannels').where('fingerprint', '=', fingerprint).returningAll();
        for (const row of await rows.execute()) writer.note(noteOf('deleted', fromRow(row), null));
      }
      const id = newId();
      const row: MessageChannelRow = {
        id,
        userId: fields.userId,
        kind: fields.kind,
        name: fields.name,
        state: fields.state,
        settings: JSON.stringify(fields.settings),
        secret: this.#sealed(id, secret),
        endpoint: fields.endpoint,
        fingerprint,
        createdAtMs: nowMs,
        codeHash: null,
        codeExpiresAtMs: null,
        codeTries: 0,
        hour: 0,
        hourCount: 0,
        day: 0,
        dayCount: 0,
      };
      await tx.insertInto('messageChannels').values(row).execute();
      const channel = fromRow(row);
      writer.note(noteOf('created', null, channel));
      return channel;
    });
  }

  /** In the order of their creation. */
  async list(userId: UserId): Promise<MessageChannel[]> {
    const rows = this.#store.db.selectFrom('messageChannels').selectAll().where('userId', '=', userId);
    return (await rows.orderBy('id').execute()).map(fromRow);
  }

  /** Null when no channel has this id. */
  async get(id: string): Promise<MessageChannel | null> {
    const row = this.#store.db.selectFrom('messageChannels').selectAll().where('id', '=', id);
    const found = await row.executeTakeFirst();
    return found ? fromRow(found) : null;
  }

  async secret(id: string): Promise<string | null> {
    const row = this.#store.db.selectFrom('messageChannels').select('secret').where('id', '=', id);
    const stored = (await row.executeTakeFirst())?.secret ?? null;
    return stored === null ? null : this.#store.secrets.open(stored, { table: 'message_channels', id });
  }

  /**
   * @param secret new secret; undefined: it stays
   * @throws {NotFoundError}
   */
  update(
    id: string,
    fields: Pick<MessageChannel, 'name' | 'state' | 'settings' | 'endpoint'>,
    secret?: string | null,
  ): Promise<MessageChannel> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const before = await tx.selectFrom('messageChannels').selectAll().where('id', '=', id).executeTakeFirst();
      const row = await tx
        .updateTable('messageChannels')
        .set({
          name: fields.name,
          state: fields.state,
          settings: JSON.stringify(fields.settings),
          endpoint: fields.endpoint,
          ...(secret === undefined ? {} : { secret: this.#sealed(id, secret) }),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      if (!row || !before) throw new NotFoundError('message-channel', id);
      const channel = fromRow(row);
      writer.note(noteOf('changed', fromRow(before), channel, secret !== undefined));
      return channel;
    });
  }

  /** Also removes it from the rules that name it. */
  delete(id: string): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await tx.deleteFrom('messageChannels').where('id', '=', id).returningAll().executeTakeFirst();
      if (!row) throw new NotFoundError('message-channel', id);
      writer.note(noteOf('deleted', fromRow(row), null));
      const owned = tx.selectFrom('notificationRules').select('id').where('ownerId', '=', row.userId);
      const ids = (await owned.execute()).map((rule) => rule.id as NotificationRuleId);
      for (const rule of await RULES.load(tx, ids))
        if (rule.channelIds.includes(id))
          await replaceRule(writer, rule, { channelIds: rule.channelIds.filter((each) => each !== id) });
    });
  }

  /** Stores the code that is sent to the recipient of a channel, who returns it as a confirmation. */
  async setCode(id: string, code: string, validMs: number): Promise<void> {
    await this.#store.db
      .updateTable('messageChannels')
      .set({ codeHash: hashOf(id, code), codeExpiresAtMs: this.#store.now() + validMs, codeTries: 0 })
      .where('id', '=', id)
      .execute();
  }

  /** @returns false where the code is wrong or too old, or after too many wrong attempts */
  confirm(id: string, code: string): Promise<boolean> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await tx.selectFrom('messageChannels').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) throw new NotFoundError('message-channel', id);
      const isOpen = row.codeHash !== null && (row.codeExpiresAtMs ?? 0) > nowMs && row.codeTries < MAX_CODE_TRIES;
      const isRight = isOpen && timingSafeEqual(Buffer.from(row.codeHash ?? ''), Buffer.from(hashOf(id, code)));
      await tx
        .updateTable('messageChannels')
        .set(isRight ? { state: 'confirmed', codeHash: null } : { codeTries: row.codeTries + 1 })
        .where('id', '=', id)
        .execute();
      if (isRight) {
        const before = fromRow(row);
        writer.note(noteOf('changed', before, { ...before, state: 'confirmed' }));
      }
      return isRight;
    });
  }

  /** Counts a message. @returns false where a limit is reached: nothing was counted */
  async take(id: string, { perHour, perDay }: MessageLimits): Promise<boolean> {
    const [hour, day] = [Math.floor(this.#store.now() / HOUR_MS), Math.floor(this.#store.now() / DAY_MS)];
    const { rows } = await sql<{ id: string }>`
      update message_channels set
        hour_count = case when hour = ${hour} then hour_count + 1 else 1 end, hour = ${hour},
        day_count = case when day = ${day} then day_count + 1 else 1 end, day = ${day}
      where id = ${id} and not (hour = ${hour} and hour_count >= ${perHour})
        and not (day = ${day} and day_count >= ${perDay})
      returning id`.execute(this.#store.db);
    return rows.length > 0;
  }

  #sealed(id: string, secret: string | null): string | null {
    return secret === null ? null : this.#store.secrets.seal(secret, { table: 'message_channels', id });
  }
}

export async function deleteMessageChannelsOf(tx: Reader, userId: UserId): Promise<void> {
  await tx.deleteFrom('messageChannels').where('userId', '=', userId).execute();
}

/** Browsers of these accounts that take push messages, by account. */
export async function browsersOf(
  db: Kysely<Tables>,
  userIds: readonly string[],
): Promise<Map<string, MessageChannel[]>> {
  const found: MessageChannel[] = [];
  for (const some of inChunks(userIds)) {
    const rows = db.selectFrom('messageChannels').selectAll().where('userId', 'in', some).where('kind', '=', WEB_PUSH);
    found.push(...(await rows.orderBy('id').execute()).map(fromRow));
  }
  return Map.groupBy(found, ({ userId }) => userId);
}

/** Confirmed channels among these ids, by id. */
export async function confirmedChannels(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<Map<string, MessageChannel>> {
  const found = new Map<string, MessageChannel>();
  for (const some of inChunks(ids)) {
    const rows = db.selectFrom('messageChannels').selectAll().where('id', 'in', some).where('state', '=', 'confirmed');
    for (const row of await rows.execute()) found.set(row.id, fromRow(row));
  }
  return found;
}

/** Settings are left out: people write keys into URLs, headers and bodies of calls. */
function noteOf(
  action: 'created' | 'changed' | 'deleted',
  before: MessageChannel | null,
  after: MessageChannel | null,
  hasNewSecret = false,
): AuditNote {
  const channel = after ?? before;
  const fields = (one: MessageChannel | null) =>
    one && { kind: one.kind, name: one.name, state: one.state, endpoint: one.endpoint, hasSecret: one.hasSecret };
  const isSame = JSON.stringify(before?.settings) === JSON.stringify(after?.settings);
  const changed = { ...(hasNewSecret && { secretChanged: true }), ...(!isSame && { settingsChanged: true }) };
  return {
    action,
    subject: { kind: 'message-channel', id: channel?.id ?? null, name: channel?.name ?? '' },
    before: fields(before),
    after: action === 'changed' ? { ...fields(after), ...changed } : fields(after),
    ownerIds: channel === null ? [] : [channel.userId],
  };
}

function hashOf(id: string, code: string): string {
  return createHash('sha256').update(`${id} ${code}`).digest('base64url');
}

function fromRow(row: MessageChannelRow): MessageChannel {
  return {
    id: row.id,
    userId: row.userId as UserId,
    kind: row.kind,
    name: row.name,
    state: row.state as MessageChannelState,
    settings: JSON.parse(row.settings) as object,
    hasSecret: row.secret !== null,
    endpoint: row.endpoint,
    createdAtMs: row.createdAtMs,
  };
}
