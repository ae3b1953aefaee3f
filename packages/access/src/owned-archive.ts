import { type Owner, tenantOf, type User } from '@outrider/domain';

/** An archive that has queries wait in the turn of an owner. */
export type Owned<Archive> = Archive & { as(owner: Owner): Archive };

/** The same archive, whose queries wait in the turn of a user. */
export function ownedArchive<Archive>(archive: Owned<Archive>, user: Pick<User, 'id' | 'dealerId'>): Archive {
  return archive.as({ account: user.id, tenant: tenantOf(user) });
}
