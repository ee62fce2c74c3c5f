/** The route table (libs/contracts/src/routes.ts) as Gateway API routes, and as the front of docker/compose.yaml. */
import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { bySpecificity, type Host, pathPattern, type Route, ROUTES } from '../libs/contracts/src/routes.ts';
import { HOSTNAMES, labelsOf, PORT } from './apps.ts';

/** The administration API has its own Gateway, which is not on the internet. */
const GATEWAY: Record<Host, 'public' | 'internal'> = {
  api: 'public',
  gateway: 'public',
  shop: 'public',
  admin: 'internal',
};

/**
 * For apps whose answers take longer than an implementation's default, often 15 s: a payment waits up to 20 s for the
 * acquirer, and a stream of events has no end (`0s`: none). These apps limit their other answers themselves.
 */
const REQUEST_TIMEOUTS: Readonly<Record<string, string>> = {
  'payment-processor': '30s',
  'hosted-gateway': '0s',
  'merchant-retrieval': '0s',
};

export function httpRouteOf(host: Host): IHTTPRoute {
  const component = host === 'shop' ? 'demo' : 'platform';
  const name = `svc-${host}`;
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, labels: labelsOf(name, component) },
    spec: {
      parentRefs: [{ name: GATEWAY[host] }],
      hostnames: [HOSTNAMES[host]],
      rules: appsOf(host).map(([app, routes]) => ({
        // Of several matches the longest prefix wins, then the one with a method, in a Gateway as in the table. A regular
        // expression has no place in that order, and overlaps with none (routes.spec.ts).
        matches: routes.map(({ path, method }) => ({
          path: pathMatchOf(path),
          ...(method === undefined ? {} : { method }),
        })),
        backendRefs: [{ name: app, port: PORT }],
        ...(REQUEST_TIMEOUTS[app] === undefined ? {} : { timeouts: { request: REQUEST_TIMEOUTS[app] } }),
      })),
    },
  };
}

function pathMatchOf(path: string): { type: 'PathPrefix' | 'RegularExpression'; value: string } {
  const pattern = pathPattern(path);
  return pattern === undefined ? { type: 'PathPrefix', value: path } : { type: 'RegularExpression', value: pattern };
}

function appsOf(host: Host): [string, Route[]][] {
  const routes = ROUTES.filter((route) => route.host === host);
  return [...new Set(routes.map(({ app }) => app))].map((app) => [app, routes.filter((route) => route.app === app)]);
}

/** Ports of the compose front, a listener for each host. */
export const FRONT_PORTS: Record<Host, number> = { api: 7300, gateway: 7301, shop: 7302, admin: 7303 };

/** Apps that share the front's network in compose, where another app has the usual port. */
const PORT_IN_COMPOSE: Readonly<Record<string, number>> = { 'demo-shop': 8081 };

function matcherOf(name: string, path: string, method: Route['method']): string {
  const pattern = pathPattern(path);
  const paths = pattern === undefined ? `path ${path} ${path}/*` : `path_regexp ${pattern}`;
  return method === undefined ? `\t@${name} ${paths}\n` : `\t@${name} {\n\t\tmethod ${method}\n\t\t${paths}\n\t}\n`;
}

export function caddyfile(): string {
  const upstreamOf = (app: string): string => `${app}:${PORT_IN_COMPOSE[app] ?? PORT}`;
  const sites = (Object.entries(FRONT_PORTS) as [Host, number][]).map(([host, port]) => {
    const rules = ROUTES.filter((route) => route.host === host)
      .toSorted(bySpecificity)
      .map(({ path, method, app }, index) =>
        path === '/'
          ? `\thandle {\n\t\treverse_proxy ${upstreamOf(app)}\n\t}\n`
          : `${matcherOf(`${host}${index}`, path, method)}\thandle @${host}${index} {\n\t\treverse_proxy ${upstreamOf(app)}\n\t}\n`,
      );
    const rest = rules.some((rule) => rule.startsWith('\thandle {')) ? '' : '\thandle {\n\t\trespond 404\n\t}\n';
    return `# ${host}\n:${port} {\n${rules.join('')}${rest}}\n`;
  });
  // No certificate and no administration: one process that serves all hosts on a developer's machine.
  return `{\n\tadmin off\n\tauto_https off\n}\n\n${sites.join('\n')}`;
}
