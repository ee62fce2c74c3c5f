import { createServer, type Server } from 'node:http';
import { type RangeMinutes, RANGES, renderDashboard } from './dashboard-page.ts';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'cache-control': 'no-store',
};

interface DashboardsServer {
  /** `127.0.0.1:port`. Another website must not read the dashboards through a name that resolves to this machine. */
  readonly host: () => string;
  readonly prometheusUrl: string;
}

const isMinutes = (value: number): value is RangeMinutes => (RANGES as readonly number[]).includes(value);

/** Serves a page for each dashboard. The caller listens on loopback only. */
export function createDashboardsServer({ host, prometheusUrl }: DashboardsServer): Server {
  return createServer((request, response) => {
    const answer = (status: number, body: string): void => {
      response.writeHead(status, HEADERS).end(body);
    };
    if (request.headers.host !== host()) return answer(403, 'Only from this machine.');
    if (request.method !== 'GET') return answer(405, 'Only GET.');
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${host()}`);
    if (pathname === '/') return void response.writeHead(302, { location: '/payments' }).end();
    if (pathname === '/health/ready') return answer(200, 'ready');
    const minutes = Number(searchParams.get('minutes') ?? RANGES[0]);
    if (!isMinutes(minutes)) return answer(400, `minutes is one of ${RANGES.join(', ')}.`);
    renderDashboard({ name: pathname.slice(1), minutes, now: new Date(), prometheusUrl }).then(
      (page) => answer(page === undefined ? 404 : 200, page ?? 'There is no such dashboard.'),
      (error: unknown) => answer(502, `Prometheus does not answer: ${error instanceof Error ? error.name : 'error'}`),
    );
  });
}
