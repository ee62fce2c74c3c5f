import { isIPv4 } from 'node:net';
import type { FieldProblem } from './domain-error.js';

/** The limit of DNS. */
const HOST_MAX_LENGTH = 253;
/** Values of `URL.port`, which is empty for 443. `libs/outbound` connects to no other ports (E7). */
const PORTS: readonly string[] = ['', '8443'];

export interface MerchantUrlRules {
  /** Development accepts http to this machine; production accepts only https (H6). */
  readonly allowLoopbackHttp: boolean;
  /** If set, the only allowed hosts, in the format of `URL.hostname` (A8: sites that need no key). */
  readonly allowedHosts?: readonly string[];
}

/**
 * The problem of an address from a merchant, or undefined. The IP addresses of its host are checked at each call, because they can
 * change (E7).
 */
export function merchantUrlProblem(field: string, text: string, rules: MerchantUrlRules): FieldProblem | undefined {
  const problem = (message: string): FieldProblem => ({ field, message: `${field} ${message}` });
  if (!URL.canParse(text)) return problem('must be an absolute URL');
  const url = new URL(text);
  if (url.username || url.password) return problem('must not contain credentials');
  if (url.hostname.length > HOST_MAX_LENGTH)
    return problem(`must not have a host of over ${HOST_MAX_LENGTH} characters`);
  const secure =
    url.protocol === 'https:' || (url.protocol === 'http:' && rules.allowLoopbackHttp && isLoopback(url.hostname));
  if (!secure) return problem(rules.allowLoopbackHttp ? 'must be https (http only to loopback)' : 'must be https');
  // Each port is an endpoint with its own retries and circuit breaker: limit their number.
  if (!rules.allowLoopbackHttp && !PORTS.includes(url.port)) return problem('must use port 443 or 8443');
  if (rules.allowedHosts && !rules.allowedHosts.includes(url.hostname))
    return problem('must be on one of the hosts this site may use without an API key');
  return undefined;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
