/**
 * The smallest program that stores the same data as the platform for one hosted payment, in one process over RabbitMQ:
 * session and event; payable reserved, payment, attempt and event; outcome, ledger transfer and event; the result for the
 * page; both logs published with confirms; payables and payments copied from events; the notification recorded, signed
 * twice, sent, its result recorded. It leaves out everything that stores nothing: validation, limits, rendering, logs,
 * traces, retries, recovery.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { connect as connectAmqp, type ConsumeMessage } from 'amqplib';
import { fastify } from 'fastify';
import { consume } from './consume.ts';
import { connect } from './database.ts';
import { Dispatcher } from './dispatcher.ts';
import { EXCHANGE, Relay } from './event-log.ts';
import { serveGateway, type Snapshot } from './gateway.ts';
import { type ChargeRequest, Processor } from './processor.ts';

const { DATABASE_URL, AMQP_URL, PORT, API_KEY, SITE_ID, WEBHOOK_SECRET, ACQUIRER_STORE, ACQUIRER_LATENCY_MS } =
  process.env as Record<string, string>;
const COMMANDS = 'least.charge';

const { query } = connect(DATABASE_URL!);
const publishing = await connectAmqp(AMQP_URL!, { noDelay: true });
const consuming = await connectAmqp(AMQP_URL!, { noDelay: true });
const events = [await publishing.createConfirmChannel(), await publishing.createConfirmChannel()] as const;
await events[0].assertExchange(EXCHANGE, 'topic', { durable: true });
const relays = {
  gateway: new Relay('gateway', query, events[0]),
  processor: new Relay('payment_processor', query, events[1]),
};

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const acquirer = await startSimulatedAcquirer({
  SVC_ACQUIRER_STORE: ACQUIRER_STORE!,
  SVC_ACQUIRER_LATENCY_MS: ACQUIRER_LATENCY_MS!,
});
const processor = new Processor(query, privateKey, acquirer.url, () => relays.processor.nudge());
const dispatcher = new Dispatcher(query, API_KEY!, WEBHOOK_SECRET!);

// Request and reply: transient, directly to the channel that sent the request.
const replyChannel = await publishing.createChannel();
const pendingReplies = new Map<string, { resolve: (payment: Snapshot) => void; reject: (error: Error) => void }>();
await replyChannel.consume('amq.rabbitmq.reply-to', (message) => message && handleReply(message), { noAck: true });
const commandChannel = await consuming.createChannel();
await commandChannel.assertQueue(COMMANDS, { durable: true });
await commandChannel.prefetch(1_000);
await commandChannel.consume(COMMANDS, (message) => message && void handleCommand(message));

function handleReply({ properties, content }: ConsumeMessage): void {
  const one = pendingReplies.get(String(properties.correlationId));
  pendingReplies.delete(String(properties.correlationId));
  const reply = JSON.parse(content.toString()) as Snapshot | { error: string };
  if ('error' in reply) one?.reject(new Error(reply.error));
  else one?.resolve(reply);
}

async function handleCommand(message: ConsumeMessage): Promise<void> {
  const reply = await processor
    .charge(JSON.parse(message.content.toString()) as ChargeRequest)
    .catch((error: unknown) => ({ error: String(error) }));
  const { replyTo, correlationId } = message.properties as { replyTo: string; correlationId: string };
  replyChannel.publish('', replyTo, Buffer.from(JSON.stringify(reply)), { correlationId });
  commandChannel.ack(message);
}

function charge(request: object): Promise<Snapshot> {
  const correlationId = randomUUID();
  return new Promise((resolve, reject) => {
    pendingReplies.set(correlationId, { resolve, reject });
    replyChannel.publish('', COMMANDS, Buffer.from(JSON.stringify(request)), {
      correlationId,
      replyTo: 'amq.rabbitmq.reply-to',
    });
  });
}

const app = fastify({ logger: false });
const saveSnapshots = serveGateway(app, {
  query,
  url: `http://127.0.0.1:${PORT}`,
  apiKeys: new Map([[API_KEY!, SITE_ID!]]),
  publicJwk: JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: randomUUID() }),
  onCommit: () => relays.gateway.nudge(),
  charge,
});
await consume(consuming, 'least.processor', ['session.created'], 20, (payables) => processor.insertIfAbsent(payables));
await consume(consuming, 'least.gateway', ['payment.processing', 'payment.succeeded'], 20, (payments) =>
  saveSnapshots(payments),
);
await consume(consuming, 'least.dispatcher', ['payment.succeeded'], 2, (payments) => dispatcher.record(payments));
void relays.gateway.run();
void relays.processor.run();
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('ready');
