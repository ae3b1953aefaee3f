import type { UserId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { ALL, geofenceFields, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

/** What every adapter of the registry promises of the data of people. */
export function personalDataConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`personal data on ${name}`, () => {
    const env = registryPerTest(newPlace);

    async function held(id: UserId, withPrivate = true): Promise<Map<string, readonly object[]>> {
      const sections = new Map<string, object[]>();
      for await (const { section, rows } of env.registry.personalData.ofAccount(id, withPrivate))
        sections.set(section, [...(sections.get(section) ?? []), ...rows]);
      return sections;
    }

    /** An account that has used much of the service, from an address of its own. */
    async function busyAccount() {
      const group = await env.registry.groups.create({ name: 'Vans', dealerId: null });
      const anna = await env.registry.users.create(userFields('anna', { groupIds: [group.id] }), PASSWORD);
      const van = await env.registry.vehicles.create(vehicleFields('Van'));
      const session = await env.registry.sessions.create(anna.id, 60_000, '198.51.100.7', 'Browser of Anna');
      const by = { user: anna, sessionId: session.id, address: '198.51.100.7' };
      const own = env.registry.as(by);
      await own.accountLinks.setEmail(anna, 'anna@example.com');
      await own.sessions.noteSource(anna.id, '198.51.100.7');
      await own.geofences.create(geofenceFields('Home of Anna', anna.id));
      const rule = await own.notificationRules.create(ruleFields('Rule of Anna', anna.id), null);
      const draft = {
        ...{ offset: 1, rule, vehicleName: 'Van', geofenceName: null },
        event: { id: '00000000-0000-8000-8000-000000000001', vehicleId: van.id, phase: 'begin' } as never,
      };
      await env.registry.notifications.record({ consumer: 'test', partition: 0, next: 2, drafts: [draft] });
      const key = { name: 'Key of Anna', scopes: ['read' as const], groupIds: null, expiresAtMs: null };
      await own.apiKeys.create(anna.id, key);
      await own.preferences.change(anna.id, () => ({ language: 'de' }));
      await own.counters.correct({
        ...{ vehicleId: van.id, counter: 'odometer', value: 5, atMs: env.nowMs, note: 'read by Anna' },
        createdBy: anna.id,
      });
      await own.jobs.create(
        { kind: 'report', userId: anna.id, subjectId: null, parameters: { title: 'Report of Anna' }, dueAtMs: 0 },
        {
          ...{ action: 'report-requested', after: null, dealerIds: [], ownerIds: [] },
          subject: { kind: 'user', id: anna.id, name: 'anna' },
        },
      );
      return anna;
    }

    test('all that an account has is in it, without secrets; what it alone may see is left out for others', async () => {
      const anna = await busyAccount();
      const data = await held(anna.id);
      expect(data.get('profile')).toMatchObject([{ login: 'anna', name: 'Name of anna' }]);
      expect(data.get('sessions')).toMatchObject([
        { userAgent: 'Browser of Anna', createdAt: new Date(env.nowMs).toISOString() },
      ]);
      expect(data.get('preferences')).toEqual([{ value: { language: 'de' } }]);
      for (const section of [
        ...['groups', 'accountEmails', 'loginSources', 'geofences', 'notificationRules', 'notifications', 'apiKeys'],
        ...['counterCorrections', 'jobs', 'auditBy', 'auditAbout', 'credentials'],
      ])
        expect(data.get(section), section).not.toEqual([]);
      expect(JSON.stringify([...data])).not.toMatch(/hash|secret|\$scrypt|\$argon/i);
      const shown = await held(anna.id, false);
      for (const section of env.registry.personalData.privateSections) expect(shown.has(section), section).toBe(false);
      expect(shown.get('geofences')).toHaveLength(1);
    });

    test('the profile has each field of the account, as the API shows it', async () => {
      const fields = userFields('anna', { services: ['video'], rights: ['share'], externalId: 'P-7' });
      const anna = await env.registry.users.create(fields, PASSWORD);
      const { kind: _, version: __, groupIds: ___, ...wanted } = anna;
      const [profile] = (await held(anna.id)).get('profile') ?? [];
      expect(profile).toEqual(wanted);
      expect(profile).toMatchObject({ services: ['video'], rights: ['share'], blocked: false, externalId: 'P-7' });
    });

    test('long lists come in pages, each row once', async () => {
      const anna = await env.registry.users.create(userFields('anna'), PASSWORD);
      const own = env.registry.as({ user: anna, sessionId: null, address: '192.0.2.1' });
      const fields = { dealerId: null, groupIds: [], codes: [], phone: null, licenceNumber: null };
      const writes = Array.from({ length: 510 }, (_, nth) => ({
        id: null,
        fields: { ...fields, name: `Driver ${nth}`, licenceExpiresOn: null },
      }));
      await own.drivers.writeAll(writes as never, false);
      const lines = (await held(anna.id)).get('auditBy') as { id: string }[];
      const wanted = (await env.registry.audit.list({ userId: anna.id }, ALL)).items.map(({ id }) => id);
      expect(lines).toHaveLength(510);
      expect(lines.map(({ id }) => id)).toEqual(wanted.toReversed());
    });

    test('once an account is erased, nothing of it is held but that something was done, by its id', async () => {
      const anna = await busyAccount();
      await env.registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
      const [job] = (await env.registry.jobs.list({ userId: anna.id }, ALL)).items;
      await env.registry.users.delete(anna.id, null, 0);
      if (job) await env.registry.jobs.cancel(job.id);
      env.nowMs += 600_000;
      await env.registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
      const subjects = { vehicleIds: [], userIds: [anna.id] };
      await env.registry.erasures.redactAudit(subjects);
      await env.registry.erasures.removeRest(subjects);
      const left = [...(await held(anna.id))].filter(([, rows]) => rows.length > 0);
      expect(left.map(([section]) => section)).toEqual(['auditBy', 'auditAbout']);
      expect(JSON.stringify(left)).not.toMatch(/anna|198\.51/i);
    });

    test('a driver has profile, codes, assignments and lines of the trail, and nothing once deleted', async () => {
      const { drivers, driverAssignments, vehicles, personalData } = env.registry;
      const van = await vehicles.create(vehicleFields('Van'));
      const driver = await drivers.create({
        ...{ name: 'Ben', dealerId: null, groupIds: [], codes: ['A1'], phone: '+4930', licenceNumber: 'L-1' },
        licenceExpiresOn: '2027-05-31',
      });
      await driverAssignments.create({ vehicleId: van.id, driverId: driver.id, fromMs: env.nowMs, toMs: null });
      const sections = async () => {
        const found: Record<string, readonly object[]> = {};
        for await (const { section, rows } of personalData.ofDriver(driver.id)) found[section] = rows;
        return found;
      };
      expect(await sections()).toMatchObject({
        profile: [{ name: 'Ben', phone: '+4930', licenceNumber: 'L-1' }],
        codes: [{ code: 'A1', until: null }],
        assignments: [{ vehicleId: van.id, from: new Date(env.nowMs).toISOString(), to: null }],
        auditAbout: [{ action: 'created' }],
      });
      await drivers.delete(driver.id, null);
      const { auditAbout, ...rest } = await sections();
      expect(Object.values(rest).flat()).toEqual([]);
      expect(JSON.stringify(auditAbout)).not.toMatch(/Ben|\+4930|L-1|A1/);
    });
  });
}
