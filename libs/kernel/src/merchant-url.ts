import { isIPv4 } from 'node:net';
import type { FieldProblem } from './domain-error.js';

/** The longest host name of DNS. */
const HOST_MAX_LENGTH = 253;
/** As in `URL.port`, where 443 is empty; `libs/outbound` connects to no others (E7). */
const PORTS: readonly string[] = ['', '8443'];

export interface MerchantUrlRules {
  /** Development accepts http to this machine; production accepts https alone (H6). */
  readonly allowLoopbackHttp: boolean;
  /** If set, the only allowed hosts, in the form of `URL.hostname` (A8: sites that need no key). */
  readonly allowedHosts?: readonly string[];
}

/**
 * The problem of a merchant's address, or undefined. Does not resolve the name: the call does, because the result can change until
 * then (E7).
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
  // Each port is an endpoint with its own attempts and circuit breaker: no merchant needs 65 000 of them.
  if (!rules.allowLoopbackHttp && !PORTS.includes(url.port)) return problem('must use port 443 or 8443');
  if (rules.allowedHosts && !rules.allowedHosts.includes(url.hostname))
    return problem('must be on one of the hosts this site may use without an API key');
  return undefined;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
