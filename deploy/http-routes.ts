/**
 * Converts the route table (libs/contracts/src/routes.ts) into routes of the Gateway API, and into the Caddyfile of
 * compose's reverse proxy.
 */
import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { bySpecificity, type Host, pathPattern, type Route, ROUTES } from '../libs/contracts/src/routes.ts';
import { createLabels, HOSTNAMES, NAMESPACES, PORT } from './apps.ts';

/**
 * Name of the Gateway of each host. The Gateways have a namespace of their own: many controllers run a Gateway's proxies in
 * its namespace, and the network policies of the platform's namespace would cut these proxies off. The administration API has a separate Gateway, which must not be on the internet.
 */
const GATEWAY_NAMES: Record<Host, 'public' | 'internal'> = {
  api: 'public',
  gateway: 'public',
  shop: 'public',
  admin: 'internal',
  console: 'public',
};

/**
 * Timeouts for apps whose responses may take longer than the default of a Gateway, which is often 15 s. A payment waits
 * up to 20 s for the acquirer. An event stream does not end, so its app has no timeout (`0s`) and limits its other
 * responses itself.
 */
const REQUEST_TIMEOUTS: Readonly<Record<string, string>> = {
  'payment-processor': '30s',
  'hosted-gateway': '0s',
  'merchant-retrieval': '0s',
  console: '0s',
};

export function createHttpRoute(host: Host): IHTTPRoute {
  const component = host === 'shop' ? 'demo' : 'platform';
  const name = `svc-${host}`;
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, labels: createLabels(name, component) },
    spec: {
      parentRefs: [{ name: GATEWAY_NAMES[host], namespace: NAMESPACES.gateway }],
      hostnames: [HOSTNAMES[host]],
      rules: routesByApp(host).map(([app, routes]) => ({
        // If several matches apply, the longest prefix has precedence, then a match with a method, as in the route
        // table. The precedence of a regular expression is not specified, so it must not overlap with other routes
        // (routes.spec.ts).
        matches: routes.map(({ path, method }) => ({
          path: createPathMatch(path),
          ...(method === undefined ? {} : { method }),
        })),
        backendRefs: [{ name: app, port: PORT }],
        ...(REQUEST_TIMEOUTS[app] === undefined ? {} : { timeouts: { request: REQUEST_TIMEOUTS[app] } }),
      })),
    },
  };
}

function createPathMatch(path: string): { type: 'PathPrefix' | 'RegularExpression'; value: string } {
  const pattern = pathPattern(path);
  return pattern === undefined ? { type: 'PathPrefix', value: path } : { type: 'RegularExpression', value: pattern };
}

function routesByApp(host: Host): [string, Route[]][] {
  const routes = ROUTES.filter((route) => route.host === host);
  return [...new Set(routes.map(({ app }) => app))].map((app) => [app, routes.filter((route) => route.app === app)]);
}

/** Ports of compose's reverse proxy: a listener for each host. */
export const REVERSE_PROXY_PORTS: Record<Host, number> = {
  api: 7300,
  gateway: 7301,
  shop: 7302,
  admin: 7303,
  console: 7307,
};

/**
 * Ports of apps that share the network of compose's reverse proxy, in which another app already uses the default port.
 */
const COMPOSE_PORTS: Readonly<Record<string, number>> = { 'demo-shop': 8081 };

/** Names of the hosts in the response to an unknown path. The hosts shop and console serve every path. */
const HOST_NAMES: Record<Host, string> = {
  api: 'The main API',
  gateway: 'The hosted gateway',
  shop: 'The demo shop',
  admin: 'The administration API',
  console: 'The console',
};

function createMatcher(name: string, path: string, method: Route['method']): string {
  const pattern = pathPattern(path);
  const paths = pattern === undefined ? `path ${path} ${path}/*` : `path_regexp ${pattern}`;
  return method === undefined ? `\t@${name} ${paths}\n` : `\t@${name} {\n\t\tmethod ${method}\n\t\t${paths}\n\t}\n`;
}

export function createCaddyfile(): string {
  const upstreamAddress = (app: string): string => `${app}:${COMPOSE_PORTS[app] ?? PORT}`;
  const sites = (Object.entries(REVERSE_PROXY_PORTS) as [Host, number][]).map(([host, port]) => {
    const rules = ROUTES.filter((route) => route.host === host)
      .toSorted(bySpecificity)
      .map(({ path, method, app }, index) =>
        path === '/'
          ? `\thandle {\n\t\treverse_proxy ${upstreamAddress(app)}\n\t}\n`
          : `${createMatcher(`${host}${index}`, path, method)}\thandle @${host}${index} {\n\t\treverse_proxy ${upstreamAddress(app)}\n\t}\n`,
      );
    const notFoundRule = rules.some((rule) => rule.startsWith('\thandle {'))
      ? ''
      : `\thandle {\n\t\trespond "${HOST_NAMES[host]} has no such path. All paths: /reference of the main API." 404\n\t}\n`;
    return `# ${host}\n:${port} {\n${rules.join('')}${notFoundRule}}\n`;
  });
  // Without TLS and without Caddy's administration API, because compose is for a developer's machine.
  return `{\n\tadmin off\n\tauto_https off\n}\n\n${sites.join('\n')}`;
}
