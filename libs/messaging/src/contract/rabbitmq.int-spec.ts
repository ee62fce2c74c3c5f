import { messagingContract } from './messaging-contract.js';
import { ProcessesHarness } from './processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { useRabbitMq } from './rabbitmq-url.js';

const url = useRabbitMq();

messagingContract('RabbitMQ', () => new ProcessesHarness(new RabbitMqBrokers(url())));
