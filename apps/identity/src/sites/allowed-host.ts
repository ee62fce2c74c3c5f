import { isIPv6 } from 'node:net';
import { ValidateBy, type ValidationOptions } from 'class-validator';

/** Maximum length of a host name in the DNS. */
const MAX_HOST_LENGTH = 253;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * Converts a host name or IP address to the format of `new URL(…).hostname`, so that it can be compared with the host
 * of a URL. The format is lower case, IPv6 is shortened and in brackets, and international names are in ASCII. Returns
 * undefined if the text contains anything else, such as a port, a path, a wildcard or a final dot. Also returns
 * undefined for an unusual IPv4 notation (`0x7f.1`), because people would not recognise the address in a list.
 */
export function canonicalHost(text: string): string | undefined {
  if (text.length > MAX_HOST_LENGTH) return undefined;
  const address = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(address)) return URL.parse(`https://[${address}]/`)?.hostname;
  // Rejects characters that have a meaning in a URL. The URL parser below checks all other characters.
  if (/[\s:/?#@\\%[\]]/.test(text)) return undefined;
  const host = URL.parse(`https://${text}/`)?.hostname;
  if (host === undefined || host.length > MAX_HOST_LENGTH || !HOST_NAME.test(host)) return undefined;
  return IPV4.test(host) && host !== text ? undefined : host;
}

/** Validates a list of hosts: {@link canonicalHost} must accept each element. */
export function AreHosts(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'areHosts',
      validator: {
        validate: (value: unknown) =>
          Array.isArray(value) && value.every((host) => typeof host === 'string' && canonicalHost(host) !== undefined),
        defaultMessage: () => '$property must be a list of host names or IP addresses, without port',
      },
    },
    options,
  );
}
