import type { GroupId, User } from '@outrider/domain';
import { parseApiKey } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, ALL, PASSWORD, userFields } from '../fleet/fields.fixture.ts';
import {
  type ApiKeyFields,
  MAX_API_KEYS_PER_USER,
  NotFoundError,
  StaleVersionError,
  TooManyApiKeysError,
} from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const HOUR_MS = 3_600_000;

/** What every adapter of the registry promises of API keys. */
export function apiKeysConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`API keys on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
    });
    const make = (more: Partial<ApiKeyFields> = {}, userId = anna.id) =>
      env.registry.apiKeys.create(userId, {
        name: 'ERP',
        scopes: ['read'],
        groupIds: null,
        expiresAtMs: null,
        ...more,
      });
    const audited = async () =>
      (await env.registry.audit.list({}, ALL)).items
        .filter(({ subject }) => subject.kind === 'api-key')
        .map(({ action, before, after }) => [action, before, after]);

    test('a key is kept whole, with the hash of its secret alone', async () => {
      const groupIds = [ABSENT as string as GroupId];
      const expiresAtMs = env.nowMs + HOUR_MS;
      const { key, text } = await make({ scopes: ['video', 'read'], groupIds, expiresAtMs });
      expect(key).toMatchObject({
        ...{ userId: anna.id, name: 'ERP', scopes: ['read', 'video'], groupIds, expiresAtMs, version: 1 },
        ...{ createdAtMs: env.nowMs, lastUsedAtMs: null, lastUsedAddress: null },
      });
      const { id, secret } = parseApiKey(text) ?? { id: null, secret: '' };
      expect(id).toBe(key.id);
      expect(await env.registry.apiKeys.get(key.id)).toEqual(key);
      const stored = await env.registry.apiKeys.stored(key.id);
      expect(stored).toMatchObject({
        userId: anna.id,
        expiresAtMs,
        grant: { id: key.id, scopes: ['read', 'video'], groupIds, version: 1 },
      });
      expect(stored?.secretHash).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.stringify([stored, key])).not.toContain(secret);
      expect((await make()).text).not.toBe(text);
    });

    test('a change makes a new version, and one that changes nothing does not', async () => {
      const { key } = await make();
      const { apiKeys } = env.registry;
      const changed = await apiKeys.update(key.id, 1, { name: 'WMS', scopes: ['write', 'read'] });
      expect(changed).toMatchObject({ name: 'WMS', scopes: ['read', 'write'], version: 2, groupIds: null });
      expect(await apiKeys.update(key.id, null, { name: 'WMS' })).toEqual(changed);
      expect(await apiKeys.get(key.id)).toEqual(changed);
      await expect(apiKeys.update(key.id, 1, { name: 'Old' })).rejects.toBeInstanceOf(StaleVersionError);
      await expect(apiKeys.update(ABSENT as never, null, {})).rejects.toBeInstanceOf(NotFoundError);
      expect((await apiKeys.grantsAmong([key.id])).get(key.id)).toMatchObject({ version: 2 });
    });

    test('a revoked key is gone; the trail says what was made, changed and revoked, and never a secret', async () => {
      const { key, text } = await make();
      const { apiKeys } = env.registry;
      await apiKeys.update(key.id, null, { name: 'WMS' });
      await expect(apiKeys.delete(key.id, 1)).rejects.toBeInstanceOf(StaleVersionError);
      await apiKeys.delete(key.id, 2);
      expect(await apiKeys.stored(key.id)).toBeNull();
      expect((await apiKeys.grantsAmong([key.id])).size).toBe(0);
      await expect(apiKeys.delete(key.id, null)).rejects.toBeInstanceOf(NotFoundError);
      expect((await audited()).map(([action]) => action)).toEqual(['deleted', 'changed', 'created']);
      const [, secret] = /_([\w-]{43})$/.exec(text) ?? [];
      expect(JSON.stringify(await env.registry.audit.list({}, ALL))).not.toContain(secret);
    });

    test('an expired key opens nothing, and is forgotten; one without expiry stays', async () => {
      const { key } = await make({ expiresAtMs: env.nowMs + HOUR_MS });
      const lasting = await make();
      const { apiKeys } = env.registry;
      env.nowMs += HOUR_MS;
      expect(await apiKeys.get(key.id)).toBeNull();
      expect(await apiKeys.stored(key.id)).toBeNull();
      await expect(apiKeys.update(key.id, null, { expiresAtMs: null })).rejects.toBeInstanceOf(NotFoundError);
      expect((await apiKeys.list(anna.id, ALL)).items).toEqual([lasting.key]);
      expect([...(await apiKeys.grantsAmong([key.id, lasting.key.id])).keys()]).toEqual([lasting.key.id]);
      expect(await apiKeys.clean(10)).toBe(1);
      expect(await apiKeys.clean(10)).toBe(0);
      expect(await apiKeys.get(lasting.key.id)).toEqual(lasting.key);
    });

    test('the last use is kept with its address', async () => {
      const { key } = await make();
      env.nowMs += 5;
      await env.registry.apiKeys.touch(key.id, '203.0.113.5');
      expect(await env.registry.apiKeys.get(key.id)).toEqual({
        ...key,
        lastUsedAtMs: env.nowMs,
        lastUsedAddress: '203.0.113.5',
      });
    });

    test('an account has a bounded number of keys; expired and revoked ones do not count', async () => {
      const { key } = await make({ expiresAtMs: env.nowMs + HOUR_MS });
      for (let nth = 1; nth < MAX_API_KEYS_PER_USER; nth++) await make();
      await expect(make()).rejects.toBeInstanceOf(TooManyApiKeysError);
      const ben = await env.registry.users.create(userFields('ben'), PASSWORD);
      await make({}, ben.id);
      await env.registry.apiKeys.delete(key.id, null);
      const { key: next } = await make({ expiresAtMs: env.nowMs + HOUR_MS });
      await expect(make()).rejects.toBeInstanceOf(TooManyApiKeysError);
      env.nowMs += HOUR_MS;
      await make();
      expect(await env.registry.apiKeys.get(next.id)).toBeNull();
    });

    test('the keys of an account that is deleted go with it; a block leaves them', async () => {
      const { key } = await make();
      await env.registry.users.update(anna.id, null, { blocked: true });
      expect(await env.registry.apiKeys.get(key.id)).toEqual(key);
      await env.registry.users.delete(anna.id, null);
      expect(await env.registry.apiKeys.get(key.id)).toBeNull();
    });

    test('the trail names the key that a change was made with', async () => {
      const { key } = await make();
      const actor = { user: anna, sessionId: null, apiKeyId: key.id, address: '203.0.113.5' };
      await env.registry.as(actor).users.update(anna.id, null, { name: 'Anna' });
      const [entry] = (await env.registry.audit.list({}, ALL)).items;
      expect(entry).toMatchObject({ action: 'changed', sessionId: null, apiKeyId: key.id });
    });
  });
}
