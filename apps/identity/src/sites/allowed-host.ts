import { isIPv6 } from 'node:net';
import { ValidateBy, type ValidationOptions } from 'class-validator';

/** Longest host name of the DNS. */
const HOST_LENGTH_MAX = 253;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * A host name or IP literal as `new URL(…).hostname` shows it, so that the two compare as text: lower case, IPv6 in
 * brackets and shortened, international names in their ASCII form. Undefined when it is anything else: a port, a path,
 * a wildcard, a name with a final dot, or an IPv4 address in disguise (`0x7f.1`), which nobody would recognise in a list.
 */
export function canonicalHost(text: string): string | undefined {
  if (text.length > HOST_LENGTH_MAX) return undefined;
  const address = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(address)) return URL.parse(`https://[${address}]/`)?.hostname;
  // What a URL would cut off or give another meaning; the rest is for its parser.
  if (/[\s:/?#@\\%[\]]/.test(text)) return undefined;
  const host = URL.parse(`https://${text}/`)?.hostname;
  if (host === undefined || host.length > HOST_LENGTH_MAX || !HOST_NAME.test(host)) return undefined;
  return IPV4.test(host) && host !== text ? undefined : host;
}

/** Each element is a host that {@link canonicalHost} knows. */
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
