import { tenantOf, type User } from '@outrider/domain';
import { asOwner } from '@outrider/warehouse';

/** The same archive, whose queries wait in the turn of a user. */
export function ownedArchive<Archive extends object>(archive: Archive, user: Pick<User, 'id' | 'dealerId'>): Archive {
  const owner = { account: user.id, tenant: tenantOf(user) };
  return new Proxy(archive, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) => {
        const result: unknown = asOwner(owner, () => member.apply(target, parameters));
        return isAsyncIterable(result) ? ownedPages(result) : result;
      };
    },
  });

  /** The caller reads the pages later, so each read runs as the same owner. */
  async function* ownedPages(pages: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const iterator = asOwner(owner, () => pages[Symbol.asyncIterator]());
    try {
      for (;;) {
        const next = await asOwner(owner, () => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
