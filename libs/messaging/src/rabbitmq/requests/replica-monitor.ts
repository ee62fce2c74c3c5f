import { isUuid } from '@svc/kernel';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import { MAX_PINGED_REQUESTS, PING, type Ping, type Pong, toJson } from '../rabbitmq-messages.js';
import type { Topology } from '../rabbitmq-topology.js';
import type { Link, PendingRequest } from './pending-request.js';
import { commandOfPing, type Replica, Replicas } from './replicas.js';

/** Longest time that a search for replicas waits for the first answer. */
const SEARCH_MS = 1_000;
/** How often a requester that sends requests searches for further replicas. */
const SEARCH_EVERY_MS = 5_000;
/** How often a replica is asked whether it handles the requests that it has not answered. */
export const PING_EVERY_MS = 1_000;
/** A replica that does not answer a ping for this time is silent. Its requests are sent to another replica. */
const SILENT_AFTER_MS = 2_000;

/**
 * Finds the replicas that answer each command, and notices when they no longer do. A ping with the routing key of all
 * replicas finds them. A ping to one replica lists the requests that it has not answered. The request is sent again if
 * the replica does not know it, does not answer the ping, or has lost its queue.
 */
export class ReplicaMonitor {
  private readonly byCommand = new Map<string, Replicas>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    /** The requests that wait for a reply, by correlation id. */
    private readonly pending: ReadonlyMap<string, PendingRequest>,
  ) {}

  /**
   * Chooses the replica for the next request. Searches for replicas first if no known replica answers. Undefined if
   * none is found.
   */
  async choose(link: Link, command: string): Promise<Replica | undefined> {
    const replicas = this.replicasOf(command);
    const replica = replicas.choose();
    if (!replica || replica.isSilent) {
      await this.search(link, replicas);
      return replicas.choose();
    }
    if (performance.now() - replicas.searchedAt >= SEARCH_EVERY_MS) void this.search(link, replicas);
    return replica;
  }

  /** Pings the replicas that have not answered a request for some time. */
  pingWaiting(link: Link): void {
    const now = performance.now();
    const waiting = [...this.pending].filter(([, { sentAt }]) => now - sentAt >= PING_EVERY_MS);
    const byReplica = Map.groupBy(waiting, ([, { replica }]) => replica);
    for (const [replica, requests] of byReplica) {
      replica.unansweredSince ??= now;
      replica.isSilent ||= now - replica.unansweredSince >= SILENT_AFTER_MS;
      if (replica.isSilent) this.leave(link, replica);
      replica.unconfirmedSince ??= now;
      const ids = requests.slice(0, MAX_PINGED_REQUESTS).map(([id]) => id);
      this.sendPing(link, this.replicasOf(replica.command), { waitingFor: ids }, replica);
    }
    this.leaveUnreachableNode([...byReplica.keys()]);
  }

  /** Call this when the connection was lost: another node may reach other replicas. */
  markAllSilent(): void {
    for (const replicas of this.byCommand.values()) replicas.markAllSilent();
  }

  markAlive({ command, id }: Replica): void {
    this.replicasOf(command).markAlive(id);
  }

  /** Chooses this replica no more. The requests that were sent to it still wait. */
  remove({ command, id }: Pick<Replica, 'command' | 'id'>): void {
    this.replicasOf(command).remove(id);
  }

  /** The queue of the replica is lost, and with it the requests that the replica had not received. */
  onQueueLost(command: string, id: string): void {
    this.remove({ command, id });
    this.retryAll(({ replica }) => replica.command === command && replica.id === id);
  }

  /** No replica answers the command. */
  onNoReplica(command: string): void {
    this.replicasOf(command).endSearch();
  }

  /** Ignores a pong without the correlation id of our pings, or with an id that is no routing key of a replica. */
  onPong({ replica: id, isClosing, unknown }: Pong, pingId: string): void {
    const command = commandOfPing(pingId);
    const replicas = this.byCommand.get(command);
    if (replicas?.pingId !== pingId || !isUuid(id)) return;
    if (isClosing) replicas.remove(id);
    else {
      replicas.markAlive(id);
      replicas.endSearch();
      this.retryAll(({ replica }) => replica.command === command && replica.isSilent);
    }
    for (const correlationId of unknown) {
      const request = this.pending.get(correlationId);
      if (request?.replica.id === id) request.retry('unknown');
    }
  }

  private replicasOf(command: string): Replicas {
    const known = this.byCommand.get(command) ?? new Replicas(command);
    this.byCommand.set(command, known);
    return known;
  }

  /** Resolves when the first replica answers, when there is no replica, or after {@link SEARCH_MS}. */
  private async search(link: Link, replicas: Replicas): Promise<void> {
    if (replicas.search) return replicas.search.promise;
    const search = Promise.withResolvers<void>();
    replicas.search = search;
    replicas.searchedAt = performance.now();
    const timer = setTimeout(() => replicas.endSearch(), SEARCH_MS);
    this.sendPing(link, replicas, { waitingFor: [] });
    await search.promise;
    clearTimeout(timer);
  }

  /** Sends the requests of a silent replica to another replica, or searches for one. */
  private leave(link: Link, silent: Replica): void {
    const replicas = this.replicasOf(silent.command);
    const other = replicas.choose();
    if (other && !other.isSilent)
      this.retryAll(({ replica }) => replica.command === silent.command && replica.id === silent.id);
    else void this.search(link, replicas);
  }

  /**
   * Moves to another node if no replica answers and this node cannot reach their queues. The cluster may need a minute
   * to detect a partition.
   */
  private leaveUnreachableNode(waiting: readonly Replica[]): void {
    const isUnreachable = ({ isSilent, unconfirmedSince = Infinity }: Replica): boolean =>
      isSilent && performance.now() - unconfirmedSince >= SILENT_AFTER_MS;
    if (waiting.length === 0 || !waiting.every(isUnreachable)) return;
    this.connection.leaveNode(new Error('The node of the broker does not confirm requests.'));
  }

  private retryAll(isAffected: (request: PendingRequest) => boolean): void {
    for (const request of [...this.pending.values()]) if (isAffected(request)) request.retry('unknown');
  }

  /** @param replica undefined for all replicas of the command */
  private sendPing({ channel, replyTo }: Link, { command, pingId }: Replicas, ping: Ping, replica?: Replica): void {
    const properties = {
      mandatory: true,
      persistent: false,
      correlationId: pingId,
      replyTo,
      expiration: SILENT_AFTER_MS,
      contentType: 'application/json',
      type: PING,
    };
    const key = this.topology.commandKey(command, replica?.id);
    try {
      channel.publish(this.topology.commands, key, toJson(ping), properties, () => {
        if (replica) replica.unconfirmedSince = undefined;
      });
    } catch {
      // The connection is being closed.
    }
  }
}
