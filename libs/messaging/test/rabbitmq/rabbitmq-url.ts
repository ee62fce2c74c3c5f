/** URL of the RabbitMQ server for the tests. Each test uses a separate namespace of exchanges and queues. */
export function rabbitMqUrl(): string {
  const url = process.env['SVC_TEST_AMQP_URL'];
  if (!url) throw new Error('No RabbitMQ to test on: run the tests with ./svc test, or set SVC_TEST_AMQP_URL.');
  return url;
}
