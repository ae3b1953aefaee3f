import { randomBytes } from 'node:crypto';
import type { NotificationRuleId, UserId, VideoProfileId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SecretsState } from '../definitions/stored-secrets.ts';
import { ALL, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { type Registry, Secrets, SecretsKeyError, type VideoProfileFields } from '../index.ts';

/** A database that can be opened with other keys, and read past them as from a stolen disk. */
export interface SecretsPlace {
  /** @param secrets undefined: as releases stored secrets that did not seal them */
  open(
    secrets: Secrets | undefined,
    onSecrets?: (state: SecretsState) => void,
    forgetLost?: boolean,
  ): Promise<Registry>;
  /** All values of all columns of a table, as text. */
  dump(table: string): Promise<string>;
  execute(statement: string): Promise<void>;
  remove(): Promise<void>;
}

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** As a chat service makes it: who has it can write. */
const HOOK = 'https://hooks.example/services/T01/geheim';
const ADDRESS = 'rtsp://camera:hunter2@recorder.example/{channel}?t={start}&token=geheim';

/** A camera that is reached with a login and a password. */
export const STREAM_PROFILE: Omit<VideoProfileFields, 'vehicleId'> = {
  name: 'Recorder',
  protocol: 'stream',
  address: ADDRESS,
  channels: [{ number: 1, name: 'Road', direction: 'front' }],
  quality: 'main',
  audio: true,
  maxFragmentSeconds: 900,
  maxParallelDownloads: 1,
  timeZone: 'Etc/UTC',
};

/** What every adapter of the registry promises of stored secrets. */
export function secretsConformance(name: string, newPlace: () => Promise<SecretsPlace>): void {
  describe(`secrets on ${name}`, () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    let place: SecretsPlace;
    let registry: Registry | null;

    beforeEach(async () => {
      place = await newPlace();
      registry = null;
    });
    afterEach(async () => {
      await registry?.close();
      await place.remove();
    });

    async function reopen(
      keys: Uint8Array[] | undefined,
      onSecrets?: (state: SecretsState) => void,
      forgetLost = false,
    ) {
      await registry?.close();
      registry = null;
      registry = await place.open(keys && new Secrets(keys), onSecrets, forgetLost);
      return registry;
    }

    async function addSecrets(
      to: Registry,
    ): Promise<{ anna: UserId; rule: NotificationRuleId; profile: VideoProfileId }> {
      const { id: anna } = await to.users.create(userFields('anna'), PASSWORD);
      const webhook = { webhookUrl: HOOK };
      const { id: rule } = await to.notificationRules.create(ruleFields('Rule', anna, webhook), SECRET);
      const vehicle = await to.vehicles.create(vehicleFields('Van'));
      const { id: profile } = await to.videoProfiles.create({ ...STREAM_PROFILE, vehicleId: vehicle.id });
      return { anna, rule, profile };
    }

    async function expectNoneInClear(): Promise<void> {
      for (const table of ['notification_rules', 'video_profiles', 'outbox', 'recent_changes', 'idempotency', 'audit'])
        expect(await place.dump(table)).not.toMatch(/hunter2|geheim|whsec_/);
    }

    test('what is stored shows no secret, and services get them whole', async () => {
      const open = await reopen([oldKey]);
      const { anna, rule, profile } = await addSecrets(open);
      const claim = await open.idempotency.claim({ userId: anna, key: 'k', content: '{}', holdsSecret: false });
      await open.as({ user: null, sessionId: null, address: null }, claim).users.update(anna, null, { name: 'Ann' });
      await open.idempotency.answered(claim, { status: 201, headers: {}, body: `{"secret":"${SECRET}"}` });
      await expectNoneInClear();
      expect(await open.notificationRules.webhook(rule)).toEqual({ url: HOOK, secret: SECRET });
      expect((await open.videoProfiles.get(profile))?.address).toBe(ADDRESS);
      expect((await open.videoProfiles.list({}, ALL)).items[0]?.address).toBe(ADDRESS);
      const repeated = { userId: anna, key: 'k', content: '{}', holdsSecret: false };
      expect(await open.idempotency.find(repeated)).toMatchObject({ status: 201, body: `{"secret":"${SECRET}"}` });
      // What followers and the log get has no address at all.
      const carried = [...(await open.snapshot()), ...(await open.outbox.pending(100)).map(({ change }) => change)];
      expect(JSON.stringify(carried)).not.toMatch(/hunter2|geheim|recorder\.example|sealed:/);
    });

    test('the keys of the service are made once, sealed, and open with the next key', async () => {
      const open = await reopen([oldKey]);
      let made = 0;
      const make = async () => ({ publicKey: `public ${++made}`, privateKey: `whsec_private ${made}` });
      const both = await Promise.all([
        open.serviceKeys.pair('web-push', make),
        open.serviceKeys.pair('web-push', make),
      ]);
      const [first] = both;
      expect(both[1]).toEqual(first);
      expect(await place.dump('service_keys')).not.toContain('whsec_');
      const rotated = await reopen([newKey, oldKey]);
      expect(await rotated.rotateSecrets()).toBe(1);
      expect(await (await reopen([newKey])).serviceKeys.pair('web-push', make)).toEqual(first);
      // A lost key costs the pair: browsers subscribe anew.
      const lost = await reopen([oldKey], undefined, true);
      expect((await lost.serviceKeys.pair('web-push', make)).publicKey).not.toBe(first?.publicKey);
    });

    test('the secret of a second factor is sealed, opens with the next key, and none passes once its key is lost', async () => {
      const open = await reopen([oldKey]);
      const anna = await open.users.create(userFields('anna'), PASSWORD);
      await open.secondFactors.propose(anna.id, 'GEZDGNBV');
      await open.secondFactors.confirm(anna, 'GEZDGNBV', 1, []);
      expect(await place.dump('second_factors')).not.toContain('GEZDGNBV');
      expect(await (await reopen([newKey, oldKey])).rotateSecrets()).toBe(1);
      expect(await (await reopen([newKey])).secondFactors.secret(anna.id)).toBe('GEZDGNBV');
      await expect(reopen([oldKey])).rejects.toThrow(SecretsKeyError);
      const lost = await reopen([oldKey], undefined, true);
      expect(await lost.secondFactors.secret(anna.id)).toBeNull();
      expect(await lost.secondFactors.get(anna.id)).not.toBeNull();
    });

    test('what links in mails are signed with is sealed, opens with the next key, and is another once its key is lost', async () => {
      const secretIn = async (registry: Registry) => (await registry.mailAddresses.get(id))?.secret;
      const open = await reopen([oldKey]);
      const [requested] = (await open.mailAddresses.request('tenant', ['anna@example.com'], () => true)).values();
      const { id, secret } = requested ?? { id: '', secret: '' };
      expect(await secretIn(open)).toBe(secret);
      expect(secret).toMatch(/^[\w-]{43}$/);
      expect(await place.dump('mail_addresses')).not.toContain(secret);
      const rotated = await reopen([newKey, oldKey]);
      expect(await rotated.rotateSecrets()).toBe(1);
      expect(await secretIn(await reopen([newKey]))).toBe(secret);
      const lost = await secretIn(await reopen([oldKey], undefined, true));
      expect(lost).toMatch(/^[\w-]{43}$/);
      expect(lost).not.toBe(secret);
    });

    test('a task is leased with the address that it is fetched from, and a patch that leaves it out keeps it', async () => {
      const open = await reopen([oldKey]);
      const { profile } = await addSecrets(open);
      const before = await open.videoProfiles.get(profile);
      expect(await open.videoProfiles.update(profile, null, { address: ADDRESS })).toEqual(before);
      expect(await open.videoProfiles.update(profile, null, { name: 'Other' })).toMatchObject({
        version: 2,
        address: ADDRESS,
      });
      await open.videoTasks.create({
        profileId: profile,
        createdBy: null as never,
        channel: 1,
        startMs: 0,
        endMs: 1000,
        quality: 'main',
        audio: true,
        expiresAtMs: Date.now() + 60_000,
      });
      const [leased] = await open.videoQueue.lease(1, 60_000);
      expect(leased?.profile.address).toBe(ADDRESS);
      await expectNoneInClear();
    });

    test('a sealed value that is moved to another row does not open', async () => {
      const open = await reopen([oldKey]);
      const { anna, rule } = await addSecrets(open);
      const webhook = { webhookUrl: 'https://evil.example/' };
      const other = await open.notificationRules.create(ruleFields('Other', anna, webhook), `${SECRET}2`);
      await place.execute(
        `update notification_rules set webhook_secret = (select webhook_secret from notification_rules where id = '${rule}') where id = '${other.id}'`,
      );
      await expect(open.notificationRules.webhook(other.id)).rejects.toThrow(SecretsKeyError);
      expect(await open.notificationRules.webhook(rule)).toEqual({ url: HOOK, secret: SECRET });
    });

    test('what an earlier release stored in clear is sealed at the first start with a key', async () => {
      const { rule, profile } = await addSecrets(await reopen(undefined));
      expect(await place.dump('notification_rules')).toContain(SECRET);
      const states: SecretsState[] = [];
      const open = await reopen([oldKey], (state) => states.push(state));
      expect(states).toEqual([{ sealed: 3, inClear: false }]);
      await expectNoneInClear();
      expect(await open.notificationRules.webhook(rule)).toEqual({ url: HOOK, secret: SECRET });
      expect((await open.videoProfiles.get(profile))?.address).toBe(ADDRESS);
    });

    test('without a key a new registry does not open, and one from before does, with a warning', async () => {
      await expect(reopen([])).rejects.toThrow(SecretsKeyError);
      await place.execute(`insert into registry_facts (name) values ('clear-secrets')`);
      const states: SecretsState[] = [];
      await addSecrets(await reopen([], (state) => states.push(state)));
      expect(states).toEqual([{ sealed: 0, inClear: true }]);
      // Once sealed there is no way back.
      await reopen([oldKey]);
      await expect(reopen([])).rejects.toThrow(SecretsKeyError);
    });

    test('a key is replaced: both open, all is sealed with the new one, and the old one is done', async () => {
      const { rule, profile } = await addSecrets(await reopen([oldKey]));
      await expect(reopen([newKey])).rejects.toThrow(SecretsKeyError);
      const both = await reopen([newKey, oldKey]);
      expect(await both.notificationRules.webhook(rule)).toEqual({ url: HOOK, secret: SECRET });
      expect(await both.rotateSecrets()).toBe(3);
      expect(await both.rotateSecrets()).toBe(0);
      const open = await reopen([newKey]);
      expect(await open.notificationRules.webhook(rule)).toEqual({ url: HOOK, secret: SECRET });
      expect((await open.videoProfiles.get(profile))?.address).toBe(ADDRESS);
    });

    test('secret and headers of a forwarding destination are sealed, and opens with the next key', async () => {
      const first = await reopen([oldKey]);
      const { anna } = await addSecrets(first);
      const { id } = await first.forwardingDestinations.create(
        anna,
        {
          ...{ name: 'ERP', kind: 'http', settings: {}, endpoint: 'erp.example.com', active: true },
          filter: { vehicleIds: null, groupIds: null, positions: true, events: false, eventKinds: null },
        },
        { secret: SECRET, headers: { 'X-Key': 'word' } },
      );
      expect(await place.dump('forwarding_destinations')).not.toMatch(/whsec_|word/);
      expect(await (await reopen([newKey, oldKey])).rotateSecrets()).toBe(5);
      const open = await reopen([newKey]);
      const secrets = { secret: SECRET, headers: { 'X-Key': 'word' } };
      expect(await open.forwardingDestinations.secrets(id)).toEqual(secrets);
      expect(await open.forwardingDestinations.lease(1, 1000)).toMatchObject([{ id, secrets }]);
      const lost = await reopen([oldKey], undefined, true);
      expect(await lost.forwardingDestinations.secrets(id)).toEqual({ secret: null, headers: {} });
      expect(await lost.forwardingDestinations.get(id)).toMatchObject({ hasSecret: false, secretHeaderNames: [] });
    });

    test('secrets whose key is lost are given up on demand alone', async () => {
      const { rule, profile } = await addSecrets(await reopen([oldKey]));
      await expect(reopen([newKey])).rejects.toThrow(SecretsKeyError);
      const open = await reopen([newKey], undefined, true);
      expect(await open.notificationRules.webhook(rule)).toEqual({ url: null, secret: null });
      expect((await open.videoProfiles.get(profile))?.address).toBe('***');
      expect(await open.videoProfiles.update(profile, null, { address: ADDRESS })).toMatchObject({ address: ADDRESS });
    });
  });
}
