import type { QuotaUse, SessionId, User, UserId } from '@outrider/domain';
import type { Job, Page, Paging, Session, UserFields, UserPatch } from '@outrider/registry';
import { dealersOfUser, NotFoundError } from '@outrider/registry';
import { AccessPart } from '../checks.ts';
import { type CustomPatch, customMerged } from '../fleet/custom-fields.ts';
import { JobAccess } from '../job-access.ts';
import { badField, notFound, Problem } from '../problem.ts';
import { type QuotaPatch, setQuotas } from '../quota-access.ts';
import { maySeeSessions, requirePerson, rightToUser, visibleUsers } from '../rights.ts';
import { type Search, type SearchPage, searched } from '../search.ts';
import { requireOwnPassword } from './own-password.ts';
import { requireStrongPassword } from './password-strength.ts';

/** Accounts that one caller may see, their own included. */
export class UserAccess extends AccessPart {
  async get(id: UserId): Promise<User> {
    return this.checks.shown(await this.checks.user(id, 'read'));
  }

  async page(paging: Paging): Promise<Page<User>> {
    const page = await this.sources.registry.users.list(visibleUsers(this.caller), paging);
    return this.checks.page(page, (user) => rightToUser(this.caller, user));
  }

  /** Accounts that the caller may see, searched and sorted. */
  find(
    search: Search<'login' | 'name' | 'externalId'>,
    matches: (user: User) => boolean = () => true,
  ): SearchPage<User> {
    const visible = [...this.sources.directory.users.values()].filter(
      (user) => rightToUser(this.caller, user) !== 'none' && matches(user),
    );
    return this.checks.found(searched(visible, ['login', 'name', 'externalId'], search));
  }

  async add(
    fields: Omit<UserFields, 'dealerId' | 'blocked'> & { dealerId?: UserId | null | undefined },
    password: string,
  ) {
    this.checks.requireManager();
    if (fields.role !== 'user') this.checks.requireOperator('Only operators can add operators and dealers.');
    if (fields.apiAccess) this.checks.requireOperator('Only operators can grant or withdraw the right to use the API.');
    await this.checks.requireGroups(fields.groupIds, '/groupIds');
    const dealerId = this.checks.dealerFor(fields.dealerId);
    if (dealerId !== null && fields.role !== 'user') throw badField('/dealerId', 'Only users belong to a dealer.');
    requireStrongPassword(password, [fields.login, fields.name]);
    return this.checks.shown(
      await this.sources.registry.users.create({ ...fields, dealerId, blocked: false }, password),
    );
  }

  async change(
    id: UserId,
    ifMatch: number | null,
    asked: CustomPatch<Omit<UserPatch, 'blocked' | 'apiAccess'>>,
  ): Promise<User> {
    const user = await this.checks.user(id, 'write');
    const { patch, version } = customMerged<Omit<UserPatch, 'blocked' | 'apiAccess'>>(user, ifMatch, asked);
    this.checks.requireSameDealer(user.dealerId, patch.dealerId);
    if (patch.dealerId && user.role !== 'user') throw badField('/dealerId', 'Only users belong to a dealer.');
    const groupIds = await this.checks.groupsFrom(user.groupIds, patch.groupIds, '/groupIds');
    return this.checks.shown(await this.sources.registry.users.update(id, version, { ...patch, ...groupIds }));
  }

  /** Blocks the account, which ends all its access at once, or unblocks it. */
  async setBlocked(id: UserId, blocked: boolean): Promise<User> {
    await this.checks.user(id, 'write');
    if (blocked) this.#requireNotSelf(id, 'blocked');
    return this.checks.shown(await this.sources.registry.users.update(id, null, { blocked }));
  }

  /** Time at which the account expires, in Unix milliseconds; null: never. */
  async expiryOf(id: UserId): Promise<number | null> {
    await this.checks.user(id, 'read');
    return this.sources.registry.users.expiryOf(id);
  }

  async setExpiry(id: UserId, expiresAtMs: number | null): Promise<void> {
    await this.checks.user(id, 'write');
    this.#requireNotSelf(id, 'given an expiry');
    await this.sources.registry.users.setExpiry(id, expiresAtMs);
  }

  /** Days for which the fleet of the account's organisation keeps histories; null: as long as the service does. */
  async fleetRetentionOf(id: UserId): Promise<number | null> {
    return this.sources.registry.historyLimits.fleetRetention(await this.checks.user(id, 'read'));
  }

  /**
   * Dealers set the retention of their own fleet. Operators set that of any dealer, and of vehicles without a dealer.
   */
  async setFleetRetention(id: UserId, retentionDays: number | null): Promise<void> {
    const user = await this.checks.user(id, 'read');
    this.checks.requireManager();
    if (user.role === 'user')
      throw new Problem(
        'conflict',
        'Vehicles belong to dealers and to the operator. Set the retention at one of their accounts.',
      );
    await this.sources.registry.historyLimits.setFleetRetention(user, retentionDays);
  }

  async setApiAccess(id: UserId, apiAccess: boolean): Promise<User> {
    await this.checks.user(id, 'read');
    this.checks.requireOperator('Only operators can grant or withdraw the right to use the API.');
    if (!apiAccess) this.#requireNotSelf(id, 'denied the right to use the API');
    return this.checks.shown(await this.sources.registry.users.update(id, null, { apiAccess }));
  }

  /**
   * Sets an account's password. For the caller's own account, the current password is required, and `sessionId` stays
   * open.
   *
   * @param current undefined if it was not given
   */
  async setPassword(id: UserId, password: string, current: string | undefined, sessionId: SessionId): Promise<void> {
    requirePerson(this.caller);
    const user = await this.checks.user(id, 'write');
    if (id === this.caller.id) return this.changeOwnPassword(current, password, sessionId);
    if (current !== undefined) throw badField('/currentPassword', 'It may be given only for your own account.');
    requireStrongPassword(password, [user.login, user.name]);
    await this.sources.registry.users.setPassword(id, password, null);
    this.sources.tokens.revokeUser(id);
  }

  /** Changes the caller's own password. `sessionId` stays open; all their other sessions end. */
  async changeOwnPassword(current: string | undefined, wanted: string, sessionId: SessionId): Promise<void> {
    const { registry, tokens } = this.sources;
    const { id, login, name } = this.caller;
    await requireOwnPassword(this.caller, this.sources, current, sessionId);
    requireStrongPassword(wanted, [login, name]);
    await registry.users.setPassword(id, wanted, sessionId);
    tokens.revokeUser(id);
  }

  async changeOwnName(name: string): Promise<User> {
    return this.checks.shown(await this.sources.registry.users.update(this.caller.id, null, { name }));
  }

  /** Starts an export of the account's data to a file, for the account itself or those who manage it. */
  async export(id: UserId): Promise<Job> {
    requirePerson(this.caller);
    const user = await this.checks.user(id, 'read');
    return new JobAccess(this.caller, this.sources).addExport({ subject: 'user', id }, user.login, dealersOfUser(user));
  }

  async remove(id: UserId, ifMatch: number | null): Promise<void> {
    await this.checks.user(id, 'write');
    this.#requireNotSelf(id, 'deleted');
    const { registry, config } = this.sources;
    await registry.users.delete(id, ifMatch, config.erasure.graceMs);
  }

  /** Quotas of the account, and of a dealer as a whole, with their current use. */
  async quotasOf(id: UserId): Promise<QuotaUse[]> {
    return this.sources.registry.quotas.ofUser(await this.checks.user(id, 'read'));
  }

  async setQuotas(id: UserId, patch: QuotaPatch): Promise<QuotaUse[]> {
    const user = await this.checks.user(id, 'write');
    await setQuotas(this.sources.registry, this.caller, user, patch);
    return this.sources.registry.quotas.ofUser(user);
  }

  /** Open sessions of the account. */
  async sessionsOf(id: UserId): Promise<Session[]> {
    await this.checks.user(id, 'read');
    this.#requireSessions(id);
    return this.sources.registry.sessions.listOf(id);
  }

  async endSession(userId: UserId, sessionId: SessionId): Promise<void> {
    await this.checks.user(userId, 'read');
    this.#requireSessions(userId);
    const session = await this.sources.registry.sessions.get(sessionId);
    if (session?.userId !== userId) throw notFound();
    await this.sources.registry.sessions.end(sessionId);
    this.sources.tokens.revokeSession(sessionId);
  }

  /** @param except the session of the call, which stays open */
  async endSessions(userId: UserId, except: SessionId): Promise<void> {
    const { registry, tokens } = this.sources;
    for (const { id } of await this.sessionsOf(userId)) {
      if (id === except) continue;
      await registry.sessions.end(id).catch((error) => {
        // The session has ended in the meantime.
        if (!(error instanceof NotFoundError)) throw error;
      });
      tokens.revokeSession(id);
    }
  }

  /** Sessions of all accounts, the most recently used first, each with the login of its account. */
  async allSessions(
    limit: number,
    after: Pick<Session, 'id' | 'lastUsedAtMs'> | null,
  ): Promise<{ session: Session; login: string }[]> {
    requirePerson(this.caller);
    this.checks.requireOperator('Only operators may see the sessions of all accounts.');
    const sessions = await this.sources.registry.sessions.list(limit, after);
    const { users } = this.sources.directory;
    return sessions.map((session) => ({ session, login: users.get(session.userId)?.login ?? '' }));
  }

  #requireSessions(of: UserId): void {
    requirePerson(this.caller);
    if (!maySeeSessions(this.caller, of))
      throw new Problem('forbidden', 'Only the account itself and operators may see or end its sessions.');
  }

  #requireNotSelf(id: UserId, what: string): void {
    if (id === this.caller.id) throw new Problem('conflict', `Your own account cannot be ${what}.`);
  }
}
