import type { KeyPair } from '@outrider/registry';
import { type Config, secret, text, textOr, type Variables } from '@outrider/runtime';
import { type accessVariables, publicUrlOf } from './access-variables.ts';

/** Settings of Web Push: for the API, where browsers subscribe, and the notifier. */
export const pushVariables = {
  WEB_PUSH_HOSTS: textOr(
    'fcm.googleapis.com,*.push.services.mozilla.com,*.notify.windows.com,*.push.apple.com',
    'Hosts of push services to which messages may be sent, separated by commas. `*.` matches all subdomains. The default is the services of Chrome, Firefox, Edge and Safari.',
  ),
  WEB_PUSH_PUBLIC_KEY: {
    ...text(
      'Public key for push services (VAPID, base64url). If unset, a key pair is generated once and kept in the registry.',
    ),
    conflict: ({ WEB_PUSH_PUBLIC_KEY: publicKey, WEB_PUSH_PRIVATE_KEY: privateKey }) =>
      (publicKey === null) !== (privateKey === null)
        ? 'WEB_PUSH_PUBLIC_KEY and WEB_PUSH_PRIVATE_KEY must be set together'
        : null,
  },
  WEB_PUSH_PRIVATE_KEY: secret('Private key for push services (VAPID, base64url).'),
  WEB_PUSH_CONTACT: text(
    'Contact for operators of push services, `mailto:…` or `https://…`. If unset, `PUBLIC_URL` if it is https.',
  ),
} satisfies Variables;

export type PushConfig = Config<typeof pushVariables & typeof accessVariables>;

/** Hosts of push services. */
export function pushHostsOf({ WEB_PUSH_HOSTS }: Pick<PushConfig, 'WEB_PUSH_HOSTS'>): string[] {
  return WEB_PUSH_HOSTS.split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
}

/** Push services require a contact address; a host in `.invalid` identifies nobody. */
export function pushContactOf(config: PushConfig): string {
  const publicUrl = publicUrlOf(config);
  return config.WEB_PUSH_CONTACT ?? (publicUrl.startsWith('https://') ? publicUrl : 'mailto:operator@outrider.invalid');
}

/** The keys of the settings; null: those that the registry keeps. */
export function pushKeysOf({ WEB_PUSH_PUBLIC_KEY, WEB_PUSH_PRIVATE_KEY }: PushConfig): KeyPair | null {
  if (WEB_PUSH_PUBLIC_KEY === null || WEB_PUSH_PRIVATE_KEY === null) return null;
  return { publicKey: WEB_PUSH_PUBLIC_KEY, privateKey: WEB_PUSH_PRIVATE_KEY };
}
