import { sql } from 'kysely';
import type { Store } from '../store/store.ts';

export interface KeyPair {
  publicKey: string;
  privateKey: string;
}

/** Keys of the service itself that are made once and kept. */
export class ServiceKeys {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The key pair of this name, shared by all instances. Created on first use, and when its private key was lost. */
  async pair(name: 'web-push', make: () => Promise<KeyPair>): Promise<KeyPair> {
    const known = await this.#read(name);
    if (known !== null) return known;
    const { publicKey, privateKey } = await make();
    const sealed = this.#store.secrets.seal(privateKey, { table: 'service_keys', id: name });
    await sql`
      insert into service_keys (id, public_key, private_key) values (${name}, ${publicKey}, ${sealed})
      on conflict (id) do update set public_key = excluded.public_key, private_key = excluded.private_key
      where service_keys.private_key is null`.execute(this.#store.db);
    const kept = await this.#read(name);
    if (kept === null) throw new Error(`the keys of ${name} could not be kept`);
    return kept;
  }

  async #read(id: string): Promise<KeyPair | null> {
    const row = await this.#store.db.selectFrom('serviceKeys').selectAll().where('id', '=', id).executeTakeFirst();
    if (!row || row.privateKey === null) return null;
    return {
      publicKey: row.publicKey,
      privateKey: this.#store.secrets.open(row.privateKey, { table: 'service_keys', id }),
    };
  }
}
