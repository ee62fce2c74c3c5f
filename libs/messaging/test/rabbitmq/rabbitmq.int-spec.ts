import { messagingContract } from '../contract/messaging-contract.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

messagingContract('RabbitMQ', () => new ProcessesHarness(new RabbitMqBrokers(rabbitMqUrl())));
