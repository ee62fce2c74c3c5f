import { isIPv4 } from 'node:net';
import type { FieldProblem } from './domain-error.js';
import { hasUnambiguousHost } from './url-text.js';

/** The limit of DNS for host names. */
const MAX_HOST_LENGTH = 253;
/** Values of `URL.port`, which is empty for 443. `libs/outbound` connects to no other ports (E7). */
const PORTS: readonly string[] = ['', '8443'];

export interface MerchantUrlRules {
  /** True in development: accepts http to loopback addresses. Production accepts only https (H6). */
  readonly allowLoopbackHttp: boolean;
  /**
   * If set, only these hosts are accepted, in the format of `URL.hostname`. It is set for sites that may be used
   * without an API key (A8).
   */
  readonly allowedHosts?: readonly string[];
}

/**
 * Returns the problem of a URL from a merchant, or undefined if it is valid. The IP addresses of its host are not
 * checked here, but at each call, because they can change (E7).
 */
export function merchantUrlProblem(field: string, text: string, rules: MerchantUrlRules): FieldProblem | undefined {
  const problem = (message: string): FieldProblem => ({ field, message: `${field} ${message}` });
  if (!URL.canParse(text)) return problem('must be an absolute URL');
  const url = new URL(text);
  if (url.username || url.password) return problem('must not contain credentials');
  if (!hasUnambiguousHost(text))
    return problem('must begin with https:// and a host, and have no backslash in its path');
  if (url.hostname.length > MAX_HOST_LENGTH)
    return problem(`must not have a host of over ${MAX_HOST_LENGTH} characters`);
  const isSecure =
    url.protocol === 'https:' || (url.protocol === 'http:' && rules.allowLoopbackHttp && isLoopback(url.hostname));
  if (!isSecure) return problem(rules.allowLoopbackHttp ? 'must be https (http only to loopback)' : 'must be https');
  // The number of ports is limited, because each port of a host is an endpoint with separate retries and a circuit
  // breaker.
  if (!rules.allowLoopbackHttp && !PORTS.includes(url.port)) return problem('must use port 443 or 8443');
  if (rules.allowedHosts && !rules.allowedHosts.includes(url.hostname))
    return problem(
      `must be on one of the hosts that this site may use without an API key: ${rules.allowedHosts.join(', ')}`,
    );
  return undefined;
}

/**
 * The problem that a URL, which development accepts, has in production because of its port. A URL with a loopback host
 * has no such problem: it is a URL of a developer's own machine, which is replaced anyway.
 */
export function portProblemInProduction(field: string, text: string): FieldProblem | undefined {
  const url = URL.parse(text);
  if (url === null || PORTS.includes(url.port) || isLoopback(url.hostname)) return undefined;
  return {
    field,
    message: `${field} has the port ${url.port}: production sends nothing to this port. Use port 443 or 8443.`,
  };
}

/** Whether this host of a URL is the machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
