import { messagingContract } from './messaging-contract.js';
import { ProcessesHarness } from './processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

messagingContract('RabbitMQ', () => new ProcessesHarness(new RabbitMqBrokers(rabbitMqUrl())));
