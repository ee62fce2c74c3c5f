import { randomBytes } from 'node:crypto';
import { TcpProxy } from '@svc/testing';
import { connect } from 'amqplib';
import type { MessagingLog } from '../../src/index.js';
import { RabbitMqBroker } from '../../src/rabbitmq/rabbitmq-broker.js';
import { Topology } from '../../src/rabbitmq/rabbitmq-topology.js';
import type { Brokers, Link } from '../harness/processes-harness.js';

export interface RabbitMqLink extends Link {
  readonly broker: RabbitMqBroker;
  readonly network: TcpProxy;
  /** A proxy for each node of the broker. The first is {@link network}. */
  readonly nodes: readonly TcpProxy[];
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
    private readonly eventsPerMessage?: number,
  ) {}

  /** @param nodeCount the number of nodes of the broker, as the process sees them: all are the same server */
  async connect(service: string, log: MessagingLog, nodeCount = 1): Promise<RabbitMqLink> {
    const login = this.logins.get(service) ?? this.url;
    const { hostname, port } = new URL(login);
    const nodes: TcpProxy[] = [];
    while (nodes.length < nodeCount) nodes.push(await TcpProxy.to(hostname, Number(port || 5672)));
    const urls = nodes.map(({ localPort }) => {
      const url = new URL(login);
      url.hostname = '127.0.0.1';
      url.port = String(localPort);
      return url.href;
    });
    const { namespace, eventsPerMessage } = this;
    const settings = eventsPerMessage === undefined ? {} : { eventsPerMessage };
    const broker = new RabbitMqBroker({ url: urls.join(), service, log, namespace, ...settings });
    const cut = (): void => {
      for (const node of nodes) node.cut();
    };
    const close = async (): Promise<void> => {
      await broker.close();
      cut();
    };
    const link = { broker, network: nodes[0]!, nodes, cut, close };
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
