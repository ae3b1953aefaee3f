import { guardedSockets } from '@outrider/channels';
import type { VehicleId } from '@outrider/domain';
import { type Authorities, authoritiesFault } from '../authorities.ts';
import {
  type DestinationKind,
  type ForwardedItem,
  SEND_TIMEOUT_MS,
  type Target,
  type TargetContext,
  within,
} from '../destination-kind.ts';
import { homeAssistantDiscovery } from '../home-assistant.ts';
import { endpointText, type HostSettings, hostSettingsFault } from '../host-settings.ts';
import type { MqttPublisher } from '../mqtt-publisher.ts';

/** MQTT messages to a broker, with topics for each vehicle. */
export interface MqttDestination extends HostSettings, Authorities {
  username: string | null;
  topicPrefix: string;
  /** Whether to make vehicles appear in Home Assistant. */
  homeAssistant: boolean;
  /** Topic prefix under which Home Assistant looks for devices. */
  discoveryPrefix: string;
}

/** Maximum number of vehicles whose newest fix, or whose name in Home Assistant, is remembered. */
const MAX_REMEMBERED = 100_000;

export const mqttDestination: DestinationKind<MqttDestination> = {
  carriesEvents: true,
  settingNames: ['host', 'port', 'tls', 'username', 'topicPrefix', 'homeAssistant', 'discoveryPrefix', 'ca'],
  fault(settings, options) {
    for (const name of ['topicPrefix', 'discoveryPrefix'] as const) {
      const prefix = settings[name];
      if (!/^[^+#\p{Cc}]+$/u.test(prefix) || prefix.startsWith('$') || /^\/|\/$|\/\//.test(prefix))
        return { pointer: `/${name}`, detail: 'It must be the beginning of topics, without + and #, such as fleet/a.' };
    }
    return hostSettingsFault(settings, options) ?? authoritiesFault(settings, settings.tls);
  },
  secretFault: ({ username }, secret) =>
    secret !== null && username === null ? 'A password needs a user name.' : null,
  endpointOf: endpointText,
  open: (settings, secret, context) => new MqttTarget(settings, secret, context),
};

class MqttTarget implements Target {
  readonly #settings: MqttDestination;
  readonly #password: string | null;
  readonly #context: TargetContext;
  #publisher: MqttPublisher | null = null;
  /** Time of the newest published fix, by vehicle. */
  readonly #newest = new Map<VehicleId, number>();
  /** Name under which each vehicle was announced to Home Assistant. */
  readonly #announced = new Map<VehicleId, string>();

  constructor(settings: MqttDestination, password: string | null, context: TargetContext) {
    this.#settings = settings;
    this.#password = password;
    this.#context = context;
  }

  async send({ items }: Parameters<Target['send']>[0]) {
    const publisher = await this.#connected();
    const published = items.flatMap((item) => this.#publish(publisher, item));
    await within(SEND_TIMEOUT_MS, Promise.all(published), 'The broker did not acknowledge the messages');
    return { count: 0, reason: null };
  }

  async test(): Promise<void> {
    const publisher = await this.#connected();
    const { topicPrefix } = this.#settings;
    const payload = JSON.stringify({ type: 'test', destinationId: this.#context.id });
    const published = publisher.publish(`${topicPrefix}/test`, payload, false);
    await within(SEND_TIMEOUT_MS, published, 'The broker did not acknowledge the message');
  }

  async close(): Promise<void> {
    this.#publisher?.close();
    this.#publisher = null;
  }

  async #connected(): Promise<MqttPublisher> {
    const { id, isTest, allowPrivateAddresses, ca } = this.#context;
    // A fixed id per destination: of two connections with the same id, the broker ends the older one.
    const clientId = isTest ? `outrider-test-${id}` : `outrider-${id}`;
    const { username } = this.#settings;
    const connect = guardedSockets({ allowPrivateAddresses, ca: this.#settings.ca ?? ca });
    if (this.#publisher !== null) return this.#publisher;
    // Loaded by the first destination with a broker: its libraries are 0.3 MB of source.
    const publishing = await import('../mqtt-publisher.ts');
    this.#publisher ??= await publishing.MqttPublisher.connect(connect, this.#settings, {
      clientId,
      username,
      password: this.#password,
    });
    return this.#publisher;
  }

  #publish(publisher: MqttPublisher, item: ForwardedItem): Promise<void>[] {
    const { topicPrefix, homeAssistant, discoveryPrefix } = this.#settings;
    const { vehicleId, vehicleName, fact } = item;
    const topic = `${topicPrefix}/vehicles/${vehicleId}`;
    const payload = JSON.stringify(item.json());
    if (fact.type === 'event') return [publisher.publish(`${topic}/event`, payload, false)];
    const published: Promise<void>[] = [];
    if (homeAssistant && this.#announced.get(vehicleId) !== vehicleName) {
      remember(this.#announced, vehicleId, vehicleName);
      const vehicle = { id: vehicleId, name: vehicleName };
      for (const config of homeAssistantDiscovery(discoveryPrefix, vehicle, `${topic}/position`))
        published.push(publisher.publish(config.topic, config.payload, true));
    }
    // Late positions have another topic, so that the newest position never moves back for its subscribers.
    const isNewest = fact.position.fixTimeMs >= (this.#newest.get(vehicleId) ?? 0);
    if (isNewest) remember(this.#newest, vehicleId, fact.position.fixTimeMs);
    published.push(publisher.publish(`${topic}/${isNewest ? 'position' : 'late-position'}`, payload, isNewest));
    return published;
  }
}

function remember<T>(map: Map<VehicleId, T>, vehicleId: VehicleId, value: T): void {
  map.delete(vehicleId);
  map.set(vehicleId, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_REMEMBERED) break;
    map.delete(oldest);
  }
}
