import type { GroupId, User, UserId, VehicleGroup } from '@outrider/domain';
import type { GroupFields, Page, Paging } from '@outrider/registry';
import { AccessPart } from '../checks.ts';
import { rightToGroup, rightToUser, visibleGroups } from '../rights.ts';
import { type Search, type SearchPage, searched } from '../search.ts';
import { type CustomFilter, type CustomPatch, customMatcher, customMerged } from './custom-fields.ts';
import type { VehicleKey } from './vehicle-access.ts';

/** Vehicle groups that one caller may see, and the accounts with access to them. */
export class GroupAccess extends AccessPart {
  get(id: GroupId): Promise<VehicleGroup> {
    return this.checks.group(id, 'read');
  }

  async page(paging: Paging): Promise<Page<VehicleGroup>> {
    const page = await this.sources.registry.groups.list(visibleGroups(this.caller), paging);
    return { ...page, items: page.items.filter((group) => rightToGroup(this.caller, group) !== 'none') };
  }

  /** Groups that the caller may see, searched and sorted. */
  find(search: Search<'name' | 'externalId'>, custom: CustomFilter = {}): SearchPage<VehicleGroup> {
    const isWanted = customMatcher(custom);
    const visible = [...this.sources.directory.groups.values()].filter(
      (group) => rightToGroup(this.caller, group) !== 'none' && isWanted?.(group) !== false,
    );
    return searched(visible, ['name', 'externalId'], search);
  }

  async add(fields: Omit<GroupFields, 'dealerId'> & { dealerId?: UserId | null | undefined }): Promise<VehicleGroup> {
    this.checks.requireManager();
    return this.sources.registry.groups.create({ ...fields, dealerId: this.checks.dealerFor(fields.dealerId) });
  }

  async change(id: GroupId, ifMatch: number | null, asked: CustomPatch<Partial<GroupFields>>): Promise<VehicleGroup> {
    const group = await this.checks.group(id, 'write');
    const { patch, version } = customMerged<Partial<GroupFields>>(group, ifMatch, asked);
    this.checks.requireSameDealer(group.dealerId, patch.dealerId);
    return this.sources.registry.groups.update(id, version, patch);
  }

  async remove(id: GroupId, ifMatch: number | null): Promise<void> {
    await this.checks.group(id, 'write');
    await this.sources.registry.groups.delete(id, ifMatch);
  }

  async setVehicle(groupId: GroupId, key: VehicleKey, isMember: boolean): Promise<void> {
    await this.checks.group(groupId, 'write');
    const vehicle = await this.checks.vehicle(key, 'write');
    await this.sources.registry.groups.setVehicle(groupId, vehicle.id, isMember);
  }

  /** Users with access to the group whom the caller may see. */
  async users(groupId: GroupId, paging: Paging): Promise<Page<User>> {
    await this.checks.group(groupId, 'read');
    const ids = await this.sources.registry.groups.userIds(groupId);
    const users = ids
      .map((id) => this.sources.directory.users.get(id))
      .filter((user) => user !== undefined)
      .filter((user) => rightToUser(this.caller, user) !== 'none')
      .filter((user) => paging.after === null || user.id > paging.after);
    const items = users.slice(0, paging.limit).map((user) => this.checks.shown(user));
    return { items, next: users.length > items.length ? (items.at(-1)?.id ?? null) : null };
  }

  async setUser(groupId: GroupId, userId: UserId, hasAccess: boolean): Promise<void> {
    await this.checks.group(groupId, 'write');
    await this.checks.user(userId, 'write');
    await this.sources.registry.groups.setUser(groupId, userId, hasAccess);
  }
}
