import { once } from 'node:events';
import { type IncomingMessage, request, type RequestOptions, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDashboardsServer } from './dashboards-server.ts';

let server: Server;
let host: string;
beforeEach(async () => {
  // Nothing listens on the port of Prometheus.
  server = createDashboardsServer({ host: () => host, prometheusUrl: 'http://127.0.0.1:1' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function statusOf(path: string, options: RequestOptions = {}): Promise<number> {
  const sent = request(`http://${host}${path}`, options);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

test.each([
  ['/', {}, 302],
  ['/health/ready', {}, 200],
  ['/health/ready', { headers: { host: 'evil.example' } }, 403],
  ['/payments', { method: 'POST' }, 405],
  ['/payments?minutes=7', {}, 400],
  ['/payments?minutes=1e9', {}, 400],
  ['/unknown', {}, 404],
  ['/payments', {}, 502],
])('%s with %j is answered with %d', async (path, options, status) => {
  expect(await statusOf(path, options)).toBe(status);
});
