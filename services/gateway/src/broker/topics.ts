import { type TopicProtocol, topicProtocols } from '@outrider/protocols';

/** A topic filter to subscribe to, and the protocol of its messages. */
export interface TopicRoute {
  filter: string;
  protocol: TopicProtocol;
}

/** Default subscriptions. */
export const DEFAULT_TOPICS = topicProtocols.map(({ name, topics }) => `${name}:${topics.filter}`).join(',');

/**
 * Parses a comma-separated list of `<protocol>:<filter>`.
 *
 * @throws {TypeError} that names the wrong item and the reason
 */
export function topicRoutesOf(text: string): TopicRoute[] {
  return text.split(',').map((item) => {
    const [, name = '', filter = ''] = /^\s*([^:\s]*):(\S+)\s*$/.exec(item) ?? [];
    const protocol = topicProtocols.find((each) => each.name === name);
    if (protocol === undefined)
      throw new TypeError(`a list of <protocol>:<filter> of ${topicProtocols.map((each) => each.name).join(', ')}`);
    if (!isFilter(filter)) throw new TypeError(`a list of topic filters: ${JSON.stringify(filter)} is not one`);
    return { filter, protocol };
  });
}

function isFilter(filter: string): boolean {
  const levels = filter.split('/');
  return (
    filter.length <= 1024 &&
    levels.every((level, nth) => {
      if (level === '#') return nth === levels.length - 1;
      return level === '+' || !/[+#]/.test(level);
    })
  );
}

/** Whether a topic matches an MQTT filter. A shared subscription delivers topics without its prefix. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.replace(/^\$share\/[^/]+\//, '').split('/');
  const levels = topic.split('/');
  for (const [nth, level] of wanted.entries()) {
    if (level === '#') return levels.length >= nth;
    if (nth >= levels.length || (level !== '+' && level !== levels[nth])) return false;
  }
  return wanted.length === levels.length;
}
