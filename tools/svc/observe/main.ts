/**
 * `node tools/svc/observe/main.ts <port> <URL of Prometheus>` serves the dashboards on loopback, for `./svc up --observe`.
 * Grafana is not needed: deploy/observability/grafana has the same dashboards for it.
 */
import { createDashboardsServer } from './dashboards-server.ts';

const HOST = '127.0.0.1';
const [port = '', prometheusUrl = ''] = process.argv.slice(2);

const server = createDashboardsServer({ host: () => `${HOST}:${port}`, prometheusUrl });
server.listen(Number(port), HOST);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
