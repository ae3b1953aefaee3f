import { randomInt } from 'node:crypto';
import { type MailPolicy, readerOf, ruleReaderOf } from '@outrider/access';
import {
  type EmailChannel,
  type SendContext,
  type SendResult,
  sendOver,
  testText,
  type WebhookChannel,
} from '@outrider/channels';
import { isoTime } from '@outrider/domain';
import type { ChannelTest, ChannelTestOutcome, MessageLimits, Registry } from '@outrider/registry';
import { type Logger, type Part, worker } from '@outrider/runtime';
import { messagesIn } from '@outrider/words/messages';
import { forgetGone } from './deliveries.ts';

export interface ChannelTestsParts {
  registry: Pick<Registry, 'channelTests' | 'notificationRules' | 'users' | 'messageChannels' | 'preferences'>;
  email: Pick<EmailChannel, 'send'>;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
  webhook: Pick<WebhookChannel, 'send'>;
  channels: Omit<SendContext, 'isUnproven'>;
  messageLimits: MessageLimits;
  logger: Logger;
  /** Unix milliseconds. */
  now(): number;
}

const AT_ONCE = 4;
const CODE_DIGITS = 6;
const CODES = 10 ** CODE_DIGITS;
const CODE_VALID_MS = 3_600_000;
/** Short: a user waits for the result. */
const POLL_MS = 500;
/** Lease duration. Renewed while the message is sent. The message is not sent again when the lease lapses. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/** Sends the messages by which users test the channels of their rules: one attempt each. */
export function createChannelTests(parts: ChannelTestsParts): Part {
  const { registry, logger } = parts;
  return worker({
    name: 'channel tests',
    atOnce: AT_ONCE,
    lease: (free) => registry.channelTests.lease(free, LEASE_MS),
    async run(test) {
      const outcome = await attempt(parts, test);
      const { channel, ruleId } = test;
      logger.info({ test: test.id, channel, ruleId, outcome: outcome.state }, 'channel tested');
      await registry.channelTests.settle(test, outcome);
    },
    renew: { everyMs: RENEW_EVERY_MS, leases: (tests) => registry.channelTests.renew(tests, LEASE_MS) },
    facts: (test) => ({ test: test.id }),
    pollMs: POLL_MS,
    logger,
  });
}

/** Uses the current version of the rule, as every delivery does. */
async function attempt(parts: ChannelTestsParts, test: ChannelTest): Promise<ChannelTestOutcome> {
  const { registry, mailPolicy } = parts;
  const cancelled = (error: string): ChannelTestOutcome => ({ state: 'cancelled', error, status: null });
  if (test.ruleId === null) return testMessageChannel(parts, test);
  const rule = await registry.notificationRules.get(test.ruleId);
  const owner = rule && (await registry.users.get(rule.ownerId));
  if (!rule || !owner) return cancelled('The rule was deleted.');
  if (test.channel === 'email') {
    const address = await mailPolicy.admit(owner, test.target, true);
    if ('cancelled' in address) return cancelled(address.cancelled);
    const { language } = await ruleReaderOf(registry, rule);
    const message = { id: test.id, to: [test.target], ...testText(rule.name, language) };
    return outcomeOf(await parts.email.send(mailPolicy.withUnsubscribe(message, address, language)));
  }
  const { url, secret } = await registry.notificationRules.webhook(rule.id);
  if (rule.webhookUrl !== test.target || url === null || secret === null)
    return cancelled('The rule no longer contains the webhook.');
  const body = {
    type: 'test',
    timestamp: isoTime(parts.now()),
    data: { ruleId: rule.id, ruleName: rule.name },
  };
  return outcomeOf(await parts.webhook.send({ id: test.id, url, secret, body, isUnproven: true }));
}

function outcomeOf(result: SendResult): ChannelTestOutcome {
  const { status } = result;
  return result.ok ? { state: 'delivered', status } : { state: 'failed', error: result.error, status };
}

/** Tests a channel. An unconfirmed channel is sent its confirmation code instead. */
async function testMessageChannel(
  { registry, channels, messageLimits }: ChannelTestsParts,
  test: ChannelTest,
): Promise<ChannelTestOutcome> {
  const { messageChannels } = registry;
  const cancelled = (error: string): ChannelTestOutcome => ({ state: 'cancelled', error, status: null });
  const channel = await messageChannels.get(test.target);
  if (channel === null || channel.userId !== test.userId) return cancelled('The channel was deleted.');
  if (!(await messageChannels.take(channel.id, messageLimits)))
    return cancelled('The limit of the channel was reached.');
  const secret = await messageChannels.secret(channel.id);
  const { language } = await readerOf(registry, channel.userId, 'UTC');
  const { words, direction } = messagesIn(language);
  const message = { id: test.id, ...words.channelTest, language, direction, path: '/me' };
  if (channel.state === 'pending') {
    const code = String(randomInt(CODES)).padStart(CODE_DIGITS, '0');
    await messageChannels.setCode(channel.id, code, CODE_VALID_MS);
    message.title = words.code.title(code);
    message.text = words.code.text;
  }
  const result = await sendOver(channel, secret, message, { ...channels, isUnproven: true });
  await forgetGone(registry, channel, result);
  return outcomeOf(result);
}
