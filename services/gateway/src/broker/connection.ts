import type { TopicMessage } from '@outrider/protocols';

/** Events of a connection to a broker. `onClosed` is the last one. */
export interface BrokerEvents {
  /** The connection is established and subscribed. */
  onReady(): void;
  /** @param acknowledge makes the broker forget the message; null if it expects no acknowledgement (QoS 0) */
  onMessage(message: TopicMessage, acknowledge: (() => void) | null): void;
  /**
   * The connection failed or ended.
   *
   * @param reason without credentials
   */
  onClosed(reason: string): void;
}

/** A connection to a broker, open or being opened. */
export interface BrokerConnection {
  /** Pauses or resumes reading. Acknowledgements are sent in either case. */
  hold(isHeld: boolean): void;
  /** Sends pending data and ends the connection. The broker keeps the subscriptions. */
  end(): void;
}

/** Connects to a broker with a persistent session. */
export type ConnectBroker = (events: BrokerEvents) => BrokerConnection;
