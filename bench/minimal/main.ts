/**
 * The minimal program ("least code" in the report): it stores the same data for a hosted payment as the platform, with
 * as little code as possible, in one process with RabbitMQ. It writes:
 * - the session and its event;
 * - the reserved payable, the payment, the attempt and their event;
 * - the outcome, the ledger transfer and their event;
 * - the result that the page shows, and the copies of payables and payments that the platform's services store;
 * - the notification, which is sent with two signatures, and the result of its delivery;
 * - the read models of codes, of payments and of the stream of a site, and the seals of the ledger.
 *
 * With the environment variable LEAST_READ_MODELS=no it does not write the last item.
 * Both event logs are published with publisher confirms. The program leaves out all code that does not store data:
 * validation, limits, rendering, logs, traces, retries and recovery.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { connect as connectAmqp, type ConsumeMessage } from 'amqplib';
import { fastify } from 'fastify';
import { consumeInBatches } from './consume.ts';
import { connect } from './database.ts';
import { Dispatcher } from './dispatcher.ts';
import { EXCHANGE, Relay } from './event-log.ts';
import { addGatewayRoutes, type PaymentSnapshot, type SessionCreated } from './gateway.ts';
import { type ChargeRequest, Processor } from './processor.ts';
import { closeCodes, insertCodes, sealLedger, storePayments } from './read-models.ts';

const { DATABASE_URL, AMQP_URL, PORT, API_KEY, SITE_ID, WEBHOOK_SECRET, ACQUIRER_STORE } = process.env as Record<
  string,
  string
>;
const COMMANDS = 'least.charge';

const { query } = connect(DATABASE_URL!);
const publishConnection = await connectAmqp(AMQP_URL!, { noDelay: true });
const consumeConnection = await connectAmqp(AMQP_URL!, { noDelay: true });
const eventChannels = [
  await publishConnection.createConfirmChannel(),
  await publishConnection.createConfirmChannel(),
] as const;
await eventChannels[0].assertExchange(EXCHANGE, 'topic', { durable: true });
const relays = {
  gateway: new Relay('gateway', query, eventChannels[0]),
  processor: new Relay('payment_processor', query, eventChannels[1]),
};

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const acquirer = await startSimulatedAcquirer({
  SVC_ACQUIRER_STORE: ACQUIRER_STORE!,
});
const processor = new Processor(query, privateKey, acquirer.url, () => relays.processor.nudge());
const dispatcher = new Dispatcher(query, API_KEY!, WEBHOOK_SECRET!);

// Request-reply with RabbitMQ's direct reply-to: the reply goes to the channel that published the request, without a
// queue.
const replyChannel = await publishConnection.createChannel();
const pendingReplies = new Map<
  string,
  { resolve: (payment: PaymentSnapshot) => void; reject: (error: Error) => void }
>();
await replyChannel.consume('amq.rabbitmq.reply-to', (message) => message && handleReply(message), { noAck: true });
const commandChannel = await consumeConnection.createChannel();
await commandChannel.assertQueue(COMMANDS, { durable: true });
await commandChannel.prefetch(1_000);
await commandChannel.consume(COMMANDS, (message) => message && void handleCommand(message));

function handleReply({ properties, content }: ConsumeMessage): void {
  const pendingReply = pendingReplies.get(String(properties.correlationId));
  pendingReplies.delete(String(properties.correlationId));
  const reply = JSON.parse(content.toString()) as PaymentSnapshot | { error: string };
  if ('error' in reply) pendingReply?.reject(new Error(reply.error));
  else pendingReply?.resolve(reply);
}

async function handleCommand(message: ConsumeMessage): Promise<void> {
  const reply = await processor
    .charge(JSON.parse(message.content.toString()) as ChargeRequest)
    .catch((error: unknown) => ({ error: String(error) }));
  const { replyTo, correlationId } = message.properties as { replyTo: string; correlationId: string };
  replyChannel.publish('', replyTo, Buffer.from(JSON.stringify(reply)), { correlationId });
  commandChannel.ack(message);
}

function requestCharge(request: object): Promise<PaymentSnapshot> {
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
const saveSnapshots = addGatewayRoutes(app, {
  query,
  url: `http://127.0.0.1:${PORT}`,
  apiKeys: new Map([[API_KEY!, SITE_ID!]]),
  publicJwk: JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: randomUUID() }),
  onCommit: () => relays.gateway.nudge(),
  charge: requestCharge,
});
// 20 and 2 are the milliseconds in which a consumer collects a batch.
await consumeInBatches(consumeConnection, 'least.processor', ['session.created'], 20, (payables) =>
  processor.insertIfAbsent(payables),
);
await consumeInBatches(
  consumeConnection,
  'least.gateway',
  ['payment.processing', 'payment.succeeded'],
  20,
  (payments) => saveSnapshots(payments),
);
await consumeInBatches(consumeConnection, 'least.dispatcher', ['payment.succeeded'], 2, (payments) =>
  dispatcher.record(payments),
);
if (process.env['LEAST_READ_MODELS'] !== 'no') {
  await consumeInBatches(
    consumeConnection,
    'least.opened-codes',
    ['session.created'],
    20,
    (sessions: SessionCreated[]) => insertCodes(query, sessions),
  );
  await consumeInBatches(consumeConnection, 'least.closed-codes', ['payment.succeeded'], 20, (payments) =>
    closeCodes(query, payments),
  );
  await consumeInBatches(consumeConnection, 'least.retrieval', ['payment.succeeded'], 20, (payments) =>
    storePayments(query, payments),
  );
  setInterval(() => void sealLedger(query), 1_000);
}
void relays.gateway.run();
void relays.processor.run();
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log('ready');
