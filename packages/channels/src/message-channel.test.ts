import { expect, test } from 'vitest';
import type { ChannelSetting } from './channel-kind.ts';
import { CHANNEL_DESCRIPTIONS, channelVariables, messageChannel, sendOver } from './message-channel.ts';

const kinds = CHANNEL_DESCRIPTIONS.map(([, kind]) => kind);
const options = { allowPrivateAddresses: false };

test('settings of one name are of one type in all kinds: a change of settings does not say the kind', () => {
  const types = new Map<string, string>();
  for (const { settings } of kinds)
    for (const [name, { type }] of Object.entries<ChannelSetting>(settings)) {
      expect(types.get(name) ?? type, name).toBe(type);
      types.set(name, type);
    }
});

test('the example of each kind has all its settings, and is one that the kind takes', () => {
  for (const { example, settings, target, fault, endpointOf } of kinds) {
    expect(Object.keys(example).sort()).toEqual(Object.keys(settings).sort());
    expect(settings).toHaveProperty(target);
    expect(fault(example, options)).toBeNull();
    expect(endpointOf(example)).not.toBe('');
  }
});

test('a form asks for what has no default, and for nothing that it has no words for', () => {
  for (const { add, settings, secret } of kinds) {
    if (add === null) continue;
    for (const [name, setting] of Object.entries<ChannelSetting>(settings)) {
      expect(setting.label, name).toBeDefined();
      const { onlyWith } = setting;
      if (onlyWith !== undefined) expect(settings).toHaveProperty(onlyWith.setting);
    }
    expect(secret.label).toBeDefined();
  }
});

test('what the operator sets for a kind is among the variables of all', () => {
  for (const { variables = {} } of kinds) expect(channelVariables).toMatchObject(variables);
});

test('a kind that is gone sends nothing, and is no error of who asks', async () => {
  expect(messageChannel('toString')).toBeNull();
  const message = { id: '1', title: 'x', text: 'x' };
  expect(await sendOver({ kind: 'pigeon', settings: {} }, null, message, {} as never)).toMatchObject({ ok: false });
});
