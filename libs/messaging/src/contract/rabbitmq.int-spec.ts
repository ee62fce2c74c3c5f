import { messagingContract } from './messaging-contract.js';
import { PrivateRabbitMq } from './private-rabbitmq.js';
import { ProcessesHarness } from './processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';

let own: PrivateRabbitMq | undefined;
let url = process.env['SVC_TEST_AMQP_URL'] ?? '';

beforeAll(async () => {
  if (url) return;
  own = await PrivateRabbitMq.start();
  url = own.url;
}, 90_000);
afterAll(() => own?.stop());

messagingContract('RabbitMQ', () => new ProcessesHarness(new RabbitMqBrokers(url)));
