import { parseBrokerUrls } from '@svc/messaging';
import { isString, isURL, ValidateBy } from 'class-validator';

/** Limit of the list. Clusters of RabbitMQ have fewer nodes. */
const MAX_BROKER_NODES = 20;

/** One amqp:// or amqps:// URL for each node of the broker, separated by commas. */
export function IsBrokerUrls(): PropertyDecorator {
  const isBrokerUrl = (url: string): boolean => isURL(url, { protocols: ['amqp', 'amqps'], require_tld: false });
  return ValidateBy({
    name: 'isBrokerUrls',
    validator: {
      validate: (value: unknown) => {
        const urls = isString(value) ? parseBrokerUrls(value) : [];
        return urls.length > 0 && urls.length <= MAX_BROKER_NODES && urls.every(isBrokerUrl);
      },
      defaultMessage: () => '$property must be a list of amqp:// or amqps:// URLs, separated by commas',
    },
  });
}
