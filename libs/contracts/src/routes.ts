/** The hosts of the platform: the main API, the hosted gateway, the demo shop, the administration API, the console. */
export type Host = 'api' | 'gateway' | 'shop' | 'admin' | 'console';

export interface Route {
  readonly host: Host;
  /**
   * A path without `*` also matches the paths below it. If several paths match, the longest one wins. A path with `*`
   * matches only whole paths, and each `*` matches one segment. No two paths with `*` may match the same path, because
   * a Kubernetes Gateway guarantees no order among them.
   */
  readonly path: string;
  /** The route applies only to this method. If two apps share a path, the route with the method wins. */
  readonly method?: 'GET' | 'POST';
  /** Folder name of the app that serves the route. */
  readonly app: string;
}

const MERCHANT = '/business/api/v1/merchants/*';
const SITE = `${MERCHANT}/sites/*`;

/** Path of the error pages on the hosts `api`, `gateway` and `admin` (ADR 60). */
export const ERROR_PAGES_PATH = '/errors';

/**
 * The route table: the only mapping of paths to apps. apps/all-in-one and apps/front read it, and deploy/generate.ts
 * generates from it the Gateway routes of Kubernetes and the configuration of the reverse proxy in compose.
 */
export const ROUTES: readonly Route[] = [
  // Each error of these hosts links to its page. The shop has its own error pages.
  ...(['api', 'gateway', 'admin'] as const).map((host) => ({ host, path: ERROR_PAGES_PATH, app: 'identity' })),
  { host: 'api', path: '/v1/auth', app: 'identity' },
  { host: 'api', path: '/.well-known/jwks.json', app: 'identity' },
  { host: 'api', path: '/health', app: 'identity' },
  { host: 'api', path: '/reference', app: 'identity' },
  { host: 'api', path: '/v1/codes', app: 'code-decoder' },
  { host: 'api', path: '/v1/payments', app: 'payment-history' },
  { host: 'api', path: '/v1/payments', method: 'POST', app: 'payment-processor' },
  { host: 'api', path: '/v1/cards', app: 'payment-processor' },
  { host: 'api', path: '/v1/verifications', app: 'payment-processor' },
  { host: 'api', path: '/v1/acquirers', app: 'payment-processor' },
  ...[`${SITE}/invoices`, `${SITE}/invoices/*`, `${SITE}/tills/*/code`].map((path) => ({
    host: 'api' as const,
    path,
    app: 'code-decoder',
  })),
  ...[MERCHANT, SITE]
    .flatMap((owner) => [`${owner}/invoices/*/payments`, `${owner}/payments`, `${owner}/payments/*`])
    .map((path) => ({ host: 'api' as const, path, app: 'merchant-retrieval' })),
  { host: 'api', path: `${MERCHANT}/payment-search`, app: 'merchant-retrieval' },
  { host: 'api', path: `${MERCHANT}/refunds`, app: 'payment-processor' },
  { host: 'api', path: `${MERCHANT}/disputes`, app: 'payment-processor' },
  { host: 'api', path: `${MERCHANT}/settlements`, app: 'payment-processor' },
  { host: 'api', path: `${MERCHANT}/settlements/*`, app: 'payment-processor' },
  { host: 'gateway', path: '/api', app: 'hosted-gateway' },
  { host: 'gateway', path: '/pay', app: 'hosted-gateway' },
  { host: 'gateway', path: '/c', app: 'hosted-gateway' },
  // Some scanners convert the address of a code to capitals.
  { host: 'gateway', path: '/C', app: 'hosted-gateway' },
  { host: 'gateway', path: '/looks', app: 'hosted-gateway' },
  { host: 'gateway', path: '/health', app: 'hosted-gateway' },
  { host: 'shop', path: '/', app: 'demo-shop' },
  { host: 'console', path: '/', app: 'console' },
  { host: 'admin', path: '/health', app: 'identity' },
  { host: 'admin', path: '/reference', app: 'identity' },
  { host: 'admin', path: '/admin/v1/merchants', app: 'identity' },
  { host: 'admin', path: '/admin/v1/people', app: 'identity' },
  { host: 'admin', path: '/admin/v1/operators', app: 'identity' },
  { host: 'admin', path: '/admin/v1/operator-keys', app: 'identity' },
  { host: 'admin', path: '/admin/v1/organisations', app: 'identity' },
  { host: 'admin', path: '/admin/v1/token-keys', app: 'identity' },
  { host: 'admin', path: '/admin/v1/audit-log', app: 'identity' },
  { host: 'admin', path: '/admin/v1/card-keys', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/merchant-accounts', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/velocity-limits', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/velocity-counters', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/refunds', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/disputes', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/settlements', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/settlement-reports', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/reconciliations', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/open-cases', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/restores', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/ledger', app: 'payment-processor' },
  { host: 'admin', path: '/admin/v1/looks', app: 'hosted-gateway' },
  { host: 'admin', path: '/admin/v1/notifications', app: 'webhook-dispatcher' },
  { host: 'admin', path: '/admin/v1/history', app: 'payment-history' },
  { host: 'admin', path: '/admin/v1/retrieval', app: 'merchant-retrieval' },
  { host: 'admin', path: '/admin/v1/console', app: 'console' },
  { host: 'admin', path: '/admin/v1/timeline', app: 'console' },
  ...[
    'identity',
    'payment-processor',
    'hosted-gateway',
    'webhook-dispatcher',
    'code-decoder',
    'payment-history',
    'merchant-retrieval',
    'console',
  ].flatMap((app) =>
    ['dead-letters', 'status'].map((name) => ({ host: 'admin' as const, path: `/admin/v1/${name}/${app}`, app })),
  ),
];

/** The app that serves a request on a host, or undefined. */
export function appFor(host: Host, path: string, method: string): string | undefined {
  const matching = ROUTES.filter(
    (route) =>
      route.host === host && covers(route.path, path) && (route.method === undefined || route.method === method),
  );
  return matching.sort(bySpecificity)[0]?.app;
}

/** Sorts routes by precedence: longer paths first, and for the same path, routes with a method first. */
export function bySpecificity(a: Route, b: Route): number {
  return b.path.length - a.path.length || Number(b.method !== undefined) - Number(a.method !== undefined);
}

/**
 * Regular expression of a path with `*`, also used by the reverse proxy and the Gateway; undefined for a path without
 * `*`.
 */
export function pathPattern(path: string): string | undefined {
  if (!path.includes('*')) return undefined;
  const segments = path.split('/').map((segment) => (segment === '*' ? '[^/]+' : segment.replaceAll('.', '[.]')));
  return `^${segments.join('/')}$`;
}

const PATTERNS = new Map(
  ROUTES.flatMap(({ path }) => {
    const pattern = pathPattern(path);
    return pattern === undefined ? [] : [[path, new RegExp(pattern)] as const];
  }),
);

function covers(route: string, path: string): boolean {
  const pattern = PATTERNS.get(route);
  if (pattern) return pattern.test(path);
  return route === '/' || path === route || path.startsWith(`${route}/`);
}
