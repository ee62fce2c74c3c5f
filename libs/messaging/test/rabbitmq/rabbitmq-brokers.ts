import { randomBytes } from 'node:crypto';
import { TcpProxy } from '@svc/testing';
import { connect } from 'amqplib';
import type { MessagingLog } from '../../src/index.js';
import { MAX_EVENTS_PER_MESSAGE, RabbitMqBroker } from '../../src/rabbitmq/rabbitmq-broker.js';
import { Topology } from '../../src/rabbitmq/rabbitmq-topology.js';
import type { Brokers, Link } from '../harness/processes-harness.js';

export interface RabbitMqLink extends Link {
  readonly broker: RabbitMqBroker;
  readonly network: TcpProxy;
}

/**
 * Connects simulated processes to one RabbitMQ server, each process through a separate TCP proxy. Their exchanges and
 * queues have a separate namespace and are deleted by `close()`.
 */
export class RabbitMqBrokers implements Brokers {
  readonly namespace = `test-${randomBytes(4).toString('hex')}`;
  readonly topology = new Topology(this.namespace);
  /** The URLs of the services that have a login of their own. */
  readonly logins = new Map<string, string>();
  /** The newest link of each service. */
  private readonly links = new Map<string, RabbitMqLink>();

  /** @param eventsPerMessage 1 for tests that count messages */
  constructor(
    readonly url: string,
    private readonly eventsPerMessage = MAX_EVENTS_PER_MESSAGE,
  ) {}

  async connect(service: string, log: MessagingLog): Promise<RabbitMqLink> {
    const url = new URL(this.logins.get(service) ?? this.url);
    const { hostname, port } = url;
    const network = await TcpProxy.to(hostname, Number(port || 5672));
    url.hostname = '127.0.0.1';
    url.port = String(network.localPort);
    const { namespace, eventsPerMessage } = this;
    const broker = new RabbitMqBroker({ url: url.href, service, log, namespace, eventsPerMessage });
    const close = async (): Promise<void> => {
      await broker.close();
      network.cut();
    };
    const link = { broker, network, cut: () => network.cut(), close };
    this.links.set(service, link);
    return link;
  }

  linkOf(service: string): RabbitMqLink {
    const link = this.links.get(service);
    if (!link) throw new Error(`No process of ${service} was started.`);
    return link;
  }

  async close(): Promise<void> {
    const connection = await connect(this.url);
    const channel = await connection.createChannel();
    const { topology } = this;
    for (const service of this.links.keys()) {
      for (const queue of [
        topology.eventQueue(service),
        topology.replayedEventQueue(service),
        topology.deadLetterQueue(service),
        topology.replayRequestQueue(service),
      ])
        await channel.deleteQueue(queue);
    }
    for (const exchange of topology.exchanges.keys()) await channel.deleteExchange(exchange);
    await connection.close();
  }
}
