import type { TopicMessage } from '@outrider/protocols';

/** What a connection to a broker reports. Nothing comes after `onClosed`. */
export interface BrokerEvents {
  /** Connected and subscribed. */
  onReady(): void;
  /** @param acknowledge makes the broker forget the message; null where it does not wait for it (QoS 0) */
  onMessage(message: TopicMessage, acknowledge: (() => void) | null): void;
  /** The connection could not be made, or ended. @param reason without credentials */
  onClosed(reason: string): void;
}

/** A connection to a broker, open or about to be. */
export interface BrokerConnection {
  /** Stops reading, or reads on: acknowledgements are sent nevertheless. */
  hold(isHeld: boolean): void;
  /** Sends what is to be sent, and ends the connection; the broker keeps the subscriptions. */
  end(): void;
}

/** Connects to a broker with a session that the broker keeps. */
export type ConnectBroker = (events: BrokerEvents) => BrokerConnection;
