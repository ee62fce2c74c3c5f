import { PrivateRabbitMq } from '@svc/testing';

/**
 * The RabbitMQ to test on: what SVC_TEST_AMQP_URL names, or one started from this machine's rabbitmq-server for the
 * file that calls this. Namespaces keep tests apart.
 */
export function useRabbitMq(): () => string {
  let own: PrivateRabbitMq | undefined;
  let url = process.env['SVC_TEST_AMQP_URL'];
  beforeAll(async () => {
    if (url) return;
    own = await PrivateRabbitMq.start();
    ({ url } = own);
  }, 90_000);
  afterAll(() => own?.stop());
  return () => {
    if (!url) throw new Error('There is no RabbitMQ before the tests begin.');
    return url;
  };
}
