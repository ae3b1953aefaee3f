import { totpCode } from '@outrider/auth';
import type { Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { axeViolations, CHROMIUM, logIn, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

/** The link of the one mail that was sent, whose parts are quoted-printable. */
function linkIn(mails: readonly string[]): URL {
  const text = mails.join('').replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const [link = ''] = /http\S+\/password\?token=[\w-]{43}&language=\w+/.exec(text) ?? [];
  return new URL(link);
}

/** A device in the browser that keeps passkeys and knows its user. */
async function virtualDevice(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    /** Whether its user agrees to what it is asked. */
    touches: (enabled: boolean) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
  };
}

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Logged in as/ }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
}

async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeViolations(page)).toEqual([]);
  }
}

describe.skipIf(CHROMIUM === undefined)('signing in, in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  test('an account that is blocked, or whose time is over, reads it on the login page', async () => {
    const admin = await demo.enter(demo.operator);
    const call = (method: 'post' | 'put', path: string, data?: object) =>
      admin.page.request[method](`${demo.url}${path}`, {
        headers: { 'sec-fetch-site': 'same-origin' },
        ...(data && { data }),
      });
    const { items } = await (await admin.page.request.get(`${demo.url}/api/v1/users?q=${demo.login}`)).json();
    const { id } = items.find(({ login }: { login: string }) => login === demo.login);
    const { page } = await demo.enter(demo);
    expect((await call('post', `/api/v1/users/${id}/block`)).status()).toBe(200);
    const blocked = page.getByText('This account is blocked. Contact the person who manages it.');
    await blocked.waitFor();
    await page.reload();
    await blocked.waitFor();
    await page.getByLabel('Login').fill(demo.login);
    const log = async (password: string) => {
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await log('a wrong password');
    await page.getByText('Login or password is wrong.').waitFor();
    expect(await blocked.count()).toBe(0);
    await log(demo.password);
    await blocked.waitFor();
    expect(await blocked.count()).toBe(1);

    expect((await call('post', `/api/v1/users/${id}/unblock`)).status()).toBe(200);
    await log(demo.password);
    await page.locator('.vehicle').first().waitFor();
    const expiresAt = new Date(Date.now() + 1000).toISOString();
    expect((await call('put', `/api/v1/users/${id}/expiry`, { expiresAt })).status()).toBe(204);
    await page.getByText('This account has expired. Contact the person who manages it.').waitFor();
    expect((await call('put', `/api/v1/users/${id}/expiry`, { expiresAt: null })).status()).toBe(204);
  });

  test('a second factor is turned on by its QR code, asked for at the login, and turned off', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/me');
    const section = page.getByRole('region', { name: 'Second factor', exact: true });
    await section.getByRole('button', { name: 'Turn on', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Second factor', exact: true });
    await dialog.getByLabel('Current password').fill('not this one');
    await dialog.getByRole('button', { name: 'Next', exact: true }).click();
    await dialog.getByText('It is not the password of this account.').waitFor();
    await dialog.getByLabel('Current password').fill(demo.operator.password);
    await dialog.getByRole('button', { name: 'Next', exact: true }).click();
    await dialog.getByRole('img', { name: 'QR code of the secret', exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const secret = (await dialog.getByLabel('Secret', { exact: true }).inputValue()).replaceAll(' ', '');
    await dialog.getByLabel('Code from the app').fill(totpCode(secret, Date.now()));
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes', exact: true });
    const recovery = (await codes.locator('code').first().textContent()) ?? '';
    await codes.getByRole('button', { name: 'Close', exact: true }).last().click();
    await section.getByText('Recovery codes left: 10').waitFor();

    const fresh = await demo.open('/');
    await fresh.page.getByLabel('Login').fill(demo.operator.login);
    await fresh.page.getByLabel('Password', { exact: true }).fill(demo.operator.password);
    await fresh.page.getByRole('button', { name: 'Log in' }).click();
    await fresh.page.getByLabel('Code', { exact: true }).fill('nothing of the kind');
    await fresh.page.getByRole('button', { name: 'Log in' }).click();
    await fresh.page.getByText('The code is wrong, or was used before.').waitFor();
    expect(await axeViolations(fresh.page)).toEqual([]);
    await fresh.page.getByLabel('Code', { exact: true }).fill(recovery);
    await fresh.page.getByRole('button', { name: 'Log in' }).click();
    await fresh.page.locator('.vehicle').first().waitFor();

    await page.reload();
    await section.getByText('Recovery codes left: 9').waitFor();
    await section.getByRole('button', { name: 'Turn off', exact: true }).click();
    await dialog.getByLabel('Current password').fill(demo.operator.password);
    await dialog.getByRole('button', { name: 'Turn off', exact: true }).click();
    await section.getByRole('button', { name: 'Turn on', exact: true }).waitFor();
    expect([...faults, ...fresh.faults]).toEqual([]);
  });

  test('a passkey is added, signs in alone and beside the password, is renamed and removed', async () => {
    const home = demo.url.replace('127.0.0.1', 'localhost');
    const { page, faults } = await demo.open(`${home}/`);
    const device = await virtualDevice(page);
    await logIn(page, demo.operator);
    await page.goto(`${home}/me`);
    const section = page.getByRole('region', { name: 'Passkeys', exact: true });
    await section.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a passkey', exact: true });
    await dialog.getByLabel('Name of the passkey').fill('Laptop');
    await dialog.getByLabel('Current password').fill('not this one');
    await dialog.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await dialog.getByText('It is not the password of this account.').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Current password').fill(demo.operator.password);
    await dialog.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    const codes = page.getByRole('dialog', { name: 'Recovery codes', exact: true });
    await expect.poll(() => codes.locator('code').count(), PATIENCE).toBe(10);
    await codes.getByRole('button', { name: 'Close', exact: true }).last().click();
    await section.getByText('Laptop').waitFor();
    await page.getByText('Recovery codes left: 10').waitFor();
    await expectAccessible(page);
    // The device has one of this account already.
    await section.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await dialog.getByLabel('Name of the passkey').fill('Again');
    await dialog.getByLabel('Current password').fill(demo.operator.password);
    await dialog.getByRole('button', { name: 'Add a passkey', exact: true }).click();
    await dialog.getByText('This device already has a passkey for this account.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();

    // Chosen by the button.
    await device.touches(false);
    await logOut(page);
    const button = page.getByRole('button', { name: 'Sign in with a passkey', exact: true });
    await button.waitFor();
    await expectAccessible(page);
    await device.touches(true);
    await button.click();
    await section.getByText('last used').waitFor();

    // Beside the password.
    await device.touches(false);
    await logOut(page);
    await page.getByLabel('Login').fill(demo.operator.login);
    await page.getByLabel('Password', { exact: true }).fill(demo.operator.password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('Enter the code').waitFor();
    await expectAccessible(page);
    await device.touches(true);
    await page.getByRole('button', { name: 'Use a passkey', exact: true }).click();
    await section.waitFor();

    // Filled in by the browser, without a click.
    const signedIn = page.waitForResponse((response) => response.url().endsWith('/auth/passkey'));
    await logOut(page);
    expect((await signedIn).status()).toBe(204);
    await section.waitFor();

    await section.getByRole('button', { name: 'Rename Laptop', exact: true }).click();
    const renaming = page.getByRole('dialog', { name: 'Rename Laptop', exact: true });
    await renaming.getByLabel('Name of the passkey').fill('Phone');
    await renaming.getByRole('button', { name: 'Save', exact: true }).click();
    await section.getByRole('button', { name: 'Remove Phone', exact: true }).click();
    const removing = page.getByRole('dialog', { name: 'Remove Phone', exact: true });
    await removing.getByLabel('Current password').fill(demo.operator.password);
    await removing.getByRole('button', { name: 'Remove', exact: true }).click();
    await section.getByText('There is no passkey yet.').waitFor();
    await device.touches(false);
    await logOut(page);
    await button.waitFor();
    await device.touches(true);
    await button.click();
    await page.getByText('This passkey does not work.').waitFor();
    expect(faults).toEqual([]);
  });

  test('an invited user chooses a password by the link of the mail, and logs in with it', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/users?user=new');
    const panel = page.getByRole('complementary', { name: 'Account', exact: true });
    await panel.getByLabel('Login', { exact: true }).fill('invited');
    await panel.getByLabel('E-mail address', { exact: true }).fill('invited@example.com');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByRole('button', { name: 'Send an invitation', exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const link = await vi.waitFor(() => linkIn(demo.mails()), PATIENCE);

    const guest = await demo.open(link.pathname + link.search);
    await guest.page.getByLabel('New password').fill('password');
    await guest.page.getByRole('button', { name: 'Set the password' }).click();
    await guest.page.getByText('attackers try first').waitFor();
    expect(await axeViolations(guest.page)).toEqual([]);
    await guest.page.getByLabel('New password').fill('a password of their own');
    await guest.page.getByRole('button', { name: 'Set the password' }).click();
    await guest.page.getByText('The password was set.').waitFor();
    await guest.page.getByRole('button', { name: 'Log in' }).click();
    await guest.page.getByRole('button', { name: 'Forgot your password?' }).click();
    await guest.page.getByLabel('Login or e-mail address').fill('invited');
    await guest.page.getByRole('button', { name: 'Send the link' }).click();
    await guest.page.getByText('the link is on its way').waitFor();
    await guest.page.getByRole('button', { name: 'Back' }).click();
    await guest.page.getByLabel('Login').fill('invited');
    await guest.page.getByLabel('Password', { exact: true }).fill('a password of their own');
    await guest.page.getByRole('button', { name: 'Log in' }).click();
    await guest.page.getByRole('banner').waitFor();
    expect([...faults, ...guest.faults]).toEqual([]);
  });
});
