import {
  type CommandNews,
  type Directory,
  type IncidentNews,
  mayCommandVehicle,
  maySeeIncident,
  maySeeVideo,
  type ReportJobNews,
  reportJobJson,
  type VideoTaskNews,
  vehicleCommandJson,
  videoTaskJson,
} from '@outrider/domain';
import type { Audiences } from '../audiences.ts';
import type { LiveClient } from '../client.ts';
import type { Connections } from '../connections.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveMetrics } from '../live-metrics.ts';

export interface JobFeedContext {
  directory: Directory;
  audiences: Audiences<LiveClient>;
  connections: Connections;
  metrics: LiveMetrics;
}

/**
 * Sends the progress of video tasks, commands and incidents, and the end of reports. A client that was not connected
 * queries the API instead.
 */
export class JobFeed {
  readonly #context: JobFeedContext;

  constructor(context: JobFeedContext) {
    this.#context = context;
  }

  /** Sends to clients that may see the vehicle's video. */
  onVideoTask({ vehicleId, task }: VideoTaskNews): void {
    const { directory, audiences, metrics } = this.#context;
    const vehicle = directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return;
    let frame: Buffer | null = null;
    for (const client of audiences.of(vehicleId)) {
      const user = client.callerIn(directory);
      if (!client.subscription?.videoTasks || user === undefined || !maySeeVideo(user, vehicle)) continue;
      frame ??= jsonFrame({ type: 'video-task', ...videoTaskJson(task) });
      client.send(frame);
      metrics.sent['video-task'].inc();
    }
  }

  /** Sends to clients that may give such a command to the vehicle. */
  onCommand({ command }: CommandNews): void {
    const { directory, audiences, metrics } = this.#context;
    const vehicle = directory.vehicles.get(command.vehicleId);
    if (vehicle === undefined) return;
    let frame: Buffer | null = null;
    for (const client of audiences.of(command.vehicleId)) {
      const user = client.callerIn(directory);
      if (!client.subscription?.commands || user === undefined) continue;
      if (!mayCommandVehicle(user, vehicle, command.order.type)) continue;
      frame ??= jsonFrame({ type: 'command', command: vehicleCommandJson(command) });
      client.send(frame);
      metrics.sent.command.inc();
    }
  }

  /** Sends to clients that handle the incident. */
  onIncident(news: IncidentNews): void {
    const { directory, connections, metrics } = this.#context;
    const { id, version, severity, state } = news;
    const frame = jsonFrame({ type: 'incident', id, version, severity, state });
    for (const [, clients] of connections.byUser())
      for (const client of clients) {
        const user = client.subscription?.incidents ? client.callerIn(directory) : undefined;
        if (user === undefined || !maySeeIncident(user, news, directory)) continue;
        client.send(frame);
        metrics.sent.incident.inc();
      }
  }

  /** Sends to the account that requested the report. */
  onReportJob(news: ReportJobNews): void {
    for (const client of this.#context.connections.of(news.userId)) {
      if (!client.subscription?.reportJobs) continue;
      client.send(jsonFrame({ type: 'report-job', ...reportJobJson(news) }));
      this.#context.metrics.sent['report-job'].inc();
    }
  }
}
