import { type Owner, tenantOf, type User } from '@outrider/domain';

/** An archive whose queries are queued by owner. */
export type Owned<Archive> = Archive & { as(owner: Owner): Archive };

/** The archive with queries queued for a user. */
export function ownedArchive<Archive>(archive: Owned<Archive>, user: Pick<User, 'id' | 'dealerId'>): Archive {
  return archive.as({ account: user.id, tenant: tenantOf(user) });
}
